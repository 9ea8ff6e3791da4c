// SPDX-License-Identifier: Apache-2.0
#include "graph_mutator.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "ir/op_schema.h"

namespace slipway::fuzz {
namespace {

using tensorflow::AttrValue;
using tensorflow::NodeDef;

class Mutator {
 public:
  Mutator(tensorflow::SavedModel* model, uint32_t seed) : random_(seed) {
    for (auto& meta_graph : *model->mutable_meta_graphs()) {
      auto* graph = meta_graph.mutable_graph_def();
      AddBody(graph->mutable_node());
      for (auto& function : *graph->mutable_library()->mutable_function()) {
        AddBody(function.mutable_node_def());
      }
    }
  }

  void Run() {
    if (bodies_.empty()) return;
    Nodes& nodes = *bodies_[Below(bodies_.size())];
    NodeDef* node = nodes.Mutable(static_cast<int>(Below(nodes.size())));
    switch (Below(8)) {
      case 0:
        return ChangeOp(node);
      case 1:
        return Rewire(nodes, node);
      case 2:
        return DropOrRepeatInput(node);
      case 3:
        return Duplicate(&nodes, *node);
      case 4:
        return Remove(&nodes, node);
      default:
        return ChangeAttr(node);
    }
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<NodeDef>;

  void AddBody(Nodes* nodes) {
    if (!nodes->empty()) bodies_.push_back(nodes);
  }
  size_t Below(size_t n) { return random_() % n; }
  int64_t Number() {
    constexpr int64_t kEdges[] = {0,
                                  1,
                                  2,
                                  3,
                                  -1,
                                  -2,
                                  7,
                                  31,
                                  64,
                                  255,
                                  1 << 16,
                                  1 << 30,
                                  INT32_MAX,
                                  INT32_MIN,
                                  std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()};
    return kEdges[Below(std::size(kEdges))];
  }
  tensorflow::DataType Type() { return static_cast<tensorflow::DataType>(Below(24)); }

  void ChangeOp(NodeDef* node) {
    const auto schemas = ir::AllOpSchemas();
    node->set_op(schemas[Below(schemas.size())]->name);
  }
  void Rewire(const Nodes& nodes, NodeDef* node) {
    if (node->input_size() == 0) return;
    const std::string& source = nodes[static_cast<int>(Below(nodes.size()))].name();
    std::string* input = node->mutable_input(static_cast<int>(Below(node->input_size())));
    *input = Below(8) == 0 ? "^" + source : source + ":" + std::to_string(Below(3));
  }
  void DropOrRepeatInput(NodeDef* node) {
    if (node->input_size() == 0) return;
    const int i = static_cast<int>(Below(node->input_size()));
    if (Below(2) == 0) {
      node->mutable_input()->DeleteSubrange(i, 1);
    } else {
      node->add_input(std::string(node->input(i)));
    }
  }
  void Duplicate(Nodes* nodes, const NodeDef& node) {
    NodeDef copy = node;
    if (Below(4) != 0) copy.set_name(copy.name() + "_");
    *nodes->Add() = std::move(copy);
  }
  void Remove(Nodes* nodes, const NodeDef* node) {
    for (int i = 0; i < nodes->size(); ++i) {
      if (&(*nodes)[i] == node) return nodes->DeleteSubrange(i, 1);
    }
  }

  void ChangeAttr(NodeDef* node) {
    auto& attrs = *node->mutable_attr();
    if (attrs.empty()) return;
    auto chosen = attrs.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(Below(attrs.size())));
    switch (Below(12)) {
      case 0:
        attrs.erase(chosen);
        return;
      case 1:
        chosen->second.set_i(Number());
        return;
      case 2:
        chosen->second.set_type(Type());
        return;
      default:
        ChangeValue(&chosen->second);
    }
  }
  void ChangeValue(AttrValue* value) {
    switch (value->value_case()) {
      case AttrValue::kI:
        value->set_i(Number());
        break;
      case AttrValue::kF:
        value->set_f(static_cast<float>(Number()));
        break;
      case AttrValue::kB:
        value->set_b(!value->b());
        break;
      case AttrValue::kType:
        value->set_type(Type());
        break;
      case AttrValue::kS:
        value->mutable_s()->append(1, static_cast<char>(random_()));
        break;
      case AttrValue::kShape:
        ChangeShape(value->mutable_shape());
        break;
      case AttrValue::kTensor:
        ChangeTensor(value->mutable_tensor());
        break;
      case AttrValue::kList:
        ChangeList(value->mutable_list());
        break;
      default:
        break;
    }
  }
  void ChangeList(AttrValue::ListValue* list) {
    if (list->i_size() > 0 && Below(2) == 0) {
      list->set_i(static_cast<int>(Below(list->i_size())), Number());
    } else if (list->type_size() > 0 && Below(2) == 0) {
      list->set_type(static_cast<int>(Below(list->type_size())), Type());
    } else if (Below(2) == 0) {
      list->add_i(Number());
    } else {
      list->clear_i();
      list->clear_type();
    }
  }
  void ChangeShape(tensorflow::TensorShapeProto* shape) {
    if (shape->dim_size() == 0 || Below(4) == 0) {
      shape->add_dim()->set_size(Number());
    } else {
      shape->mutable_dim(static_cast<int>(Below(shape->dim_size())))->set_size(Number());
    }
  }
  void ChangeTensor(tensorflow::TensorProto* tensor) {
    std::string* content = tensor->mutable_tensor_content();
    if (Below(4) == 0) {
      ChangeShape(tensor->mutable_tensor_shape());
    } else if (!content->empty()) {
      (*content)[Below(content->size())] = static_cast<char>(random_());
    } else if (tensor->int_val_size() > 0) {
      tensor->set_int_val(static_cast<int>(Below(tensor->int_val_size())),
                          static_cast<int32_t>(Number()));
    } else if (tensor->int64_val_size() > 0) {
      tensor->set_int64_val(static_cast<int>(Below(tensor->int64_val_size())), Number());
    } else if (tensor->float_val_size() > 0) {
      tensor->set_float_val(
          static_cast<int>(Below(tensor->float_val_size())),
          Below(4) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(Number()));
    }
  }

  std::mt19937 random_;
  std::vector<Nodes*> bodies_;
};

}  // namespace

void MutateSavedModel(tensorflow::SavedModel* model, uint32_t seed) { Mutator(model, seed).Run(); }

}  // namespace slipway::fuzz
