// SPDX-License-Identifier: Apache-2.0
#include "model/graph_picture.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/strings.h"
#include "model/entry_points.h"
#include "model/graph_layout.h"

namespace slipway::model {
namespace {

constexpr double kBoxHeight = 34;
constexpr double kLetter = 6.6;  // width of one of the font's

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
    }
  }
  return out;
}

std::string Number(double value) { return StrCat(static_cast<int64_t>(value * 10) / 10.0); }

bool HandsOn(const ir::Node& node) {
  return (node.op() == "Identity" || node.op() == "ReadVariableOp") && !node.inputs().empty();
}

// The end of a long name tells more than its beginning.
std::string Short(const std::string& name, size_t length = 26) {
  return name.size() <= length ? name : "..." + name.substr(name.size() - length + 3);
}

struct Box {
  std::string op;
  std::string name;
  std::string tip;
  std::string link;  // of the function it calls
  const char* colour = "#e8eef7";
};

class Drawing {
 public:
  explicit Drawing(const PictureOptions& options) : options_(options) {}

  Status Add(const ir::Function& function, bool entry) {
    boxes_.clear();
    edges_.clear();
    ASSIGN_OR_RETURN(const std::vector<ir::Node*> order, function.graph.TopologicalOrder());
    const bool drawn = order.size() <= static_cast<size_t>(options_.max_nodes);
    if (drawn) Collect(function, order);
    Heading(function, order.size(), entry, drawn);
    if (drawn) Draw();
    return OkStatus();
  }

  std::string Finish() const {
    return StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", Number(width_ + 40),
                  " ", Number(top_ + 20), "\" width=\"", Number(width_ + 40), "\" height=\"",
                  Number(top_ + 20),
                  "\" font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                  body_, "</svg>\n");
  }

 private:
  void Collect(const ir::Function& function, const std::vector<ir::Node*>& order) {
    std::unordered_map<const ir::Node*, int> box_of;
    for (const ir::Node* node : order) {
      if (node->IsConst() || node->op() == "NoOp") continue;
      if (HandsOn(*node)) {
        const auto from = box_of.find(node->input(0).node);
        if (from != box_of.end()) box_of.emplace(node, from->second);
        continue;
      }
      box_of.emplace(node, static_cast<int>(boxes_.size()));
      Connect(*node, box_of);
      boxes_.push_back(BoxOf(*node));
    }
    for (const auto& result : function.returns) {
      if (!result.value.valid()) continue;
      const auto from = box_of.find(result.value.node);
      if (from != box_of.end()) edges_.emplace(from->second, static_cast<int>(boxes_.size()));
      boxes_.push_back({.op = "result", .name = result.name, .colour = "#dff2df"});
    }
  }

  void Connect(const ir::Node& node, const std::unordered_map<const ir::Node*, int>& box_of) {
    for (const ir::Output& input : node.inputs()) {
      const auto from = box_of.find(input.node);
      if (from != box_of.end()) edges_.emplace(from->second, static_cast<int>(boxes_.size()));
    }
  }

  static Box BoxOf(const ir::Node& node) {
    Box box{.op = node.op(), .name = node.name(), .tip = StrCat(node.op(), " ", node.name())};
    for (const ir::Output& input : node.inputs()) {
      if (input.valid()) StrAppend(&box.tip, "\ntakes ", input.ToString());
    }
    for (int i = 0; i < node.num_outputs(); ++i) {
      StrAppend(&box.tip, "\ngives ", DTypeName(node.dtype(i)), " ", node.shape(i).ToString());
    }
    const std::vector<std::string> callees = Callees(node);
    if (!callees.empty()) {
      box.link = callees[0];
      box.colour = "#fbeccb";
    } else if (node.op() == "_Arg") {
      box.op = "argument";
      box.colour = "#dff2df";
    } else if (node.op() == "VarHandleOp") {
      box.colour = "#eee3f5";
    }
    return box;
  }

  void Heading(const ir::Function& function, size_t nodes, bool entry, bool drawn) {
    top_ += 30;
    StrAppend(&body_, "<text id=\"", Escaped(function.name), "\" x=\"20\" y=\"", Number(top_),
              "\" text-anchor=\"start\" font-size=\"14\" font-weight=\"bold\">",
              entry ? "" : "function ", Escaped(function.name), " (", nodes, " nodes",
              drawn ? "" : ", too many to draw", ")</text>\n");
    top_ += 12;
    width_ = std::max(width_, 8.5 * static_cast<double>(function.name.size() + 40));
  }

  void Draw() {
    std::vector<double> widths;
    for (const Box& box : boxes_) {
      widths.push_back(
          kLetter * static_cast<double>(std::max(box.op.size(), Short(box.name).size())) + 14);
    }
    const Layout layout = LayOutGraph(widths, {edges_.begin(), edges_.end()});
    for (const auto& [from, to] : edges_) {
      DrawEdge(layout, static_cast<size_t>(from), static_cast<size_t>(to));
    }
    for (size_t i = 0; i < boxes_.size(); ++i) DrawBox(boxes_[i], layout, i, widths[i]);
    width_ = std::max(width_, layout.width);
    top_ += layout.height;
  }

  void DrawEdge(const Layout& layout, size_t from, size_t to) {
    const double y1 = top_ + layout.y[from] + kBoxHeight / 2;
    const double y2 = top_ + layout.y[to] - kBoxHeight / 2;
    const double x1 = layout.x[from] + 20;
    const double x2 = layout.x[to] + 20;
    const double bend = std::max(12.0, (y2 - y1) / 2);
    StrAppend(&body_, "<path d=\"M", Number(x1), " ", Number(y1), " C", Number(x1), " ",
              Number(y1 + bend), " ", Number(x2), " ", Number(y2 - bend), " ", Number(x2), " ",
              Number(y2), "\" fill=\"none\" stroke=\"#8a94a6\" stroke-opacity=\"0.7\"/>\n");
  }

  void DrawBox(const Box& box, const Layout& layout, size_t i, double width) {
    const double x = layout.x[i] + 20;
    const double y = top_ + layout.y[i];
    if (!box.link.empty()) StrAppend(&body_, "<a href=\"#", Escaped(box.link), "\">");
    StrAppend(&body_, "<g><title>", Escaped(box.tip.empty() ? box.name : ""), Tip(box.tip),
              "</title><rect x=\"", Number(x - width / 2), "\" y=\"", Number(y - kBoxHeight / 2),
              "\" width=\"", Number(width), "\" height=\"", Number(kBoxHeight),
              "\" rx=\"5\" fill=\"", box.colour, "\" stroke=\"#5b6678\"/><text x=\"", Number(x),
              "\" y=\"", Number(y - 3), "\" font-weight=\"bold\">", Escaped(box.op),
              "</text><text x=\"", Number(x), "\" y=\"", Number(y + 11), "\" fill=\"#555\">",
              Escaped(Short(box.name)), "</text></g>");
    StrAppend(&body_, box.link.empty() ? "" : "</a>", "\n");
  }

  static std::string Tip(const std::string& tip) {
    std::vector<std::string> lines;
    for (const std::string_view line : StrSplit(tip, '\n')) lines.push_back(Escaped(line));
    return StrJoin(lines, "\n");
  }

  PictureOptions options_;
  std::vector<Box> boxes_;
  std::set<std::pair<int, int>> edges_;
  std::string body_;
  double width_ = 200;
  double top_ = 0;
};

}  // namespace

StatusOr<std::string> DrawFunction(const ir::Function& entry, const ir::FunctionLibrary* library,
                                   const PictureOptions& options) {
  Drawing drawing(options);
  RETURN_IF_ERROR(drawing.Add(entry, true));
  if (library == nullptr) return drawing.Finish();
  std::vector<const ir::Function*> functions;
  const Status visited =
      VisitReached(entry, library, [&](const ir::Node&, const ir::Function& function) {
        const bool known =
            &function == &entry || std::ranges::find(functions, &function) != functions.end();
        if (!known) functions.push_back(&function);
        return OkStatus();
      });
  if (visited.code() != Code::kNotFound) RETURN_IF_ERROR(visited);
  for (size_t i = 0; i < functions.size() && i < static_cast<size_t>(options.max_functions); ++i) {
    RETURN_IF_ERROR(drawing.Add(*functions[i], false));
  }
  return drawing.Finish();
}

}  // namespace slipway::model
