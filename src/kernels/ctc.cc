// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification: decoders and the loss.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Inputs [time, batch, classes], and how many steps each sequence has.
struct Sequences {
  int64_t time = 0, batch = 0, classes = 0;
  std::span<const int32_t> lengths;
};

StatusOr<Sequences> ReadSequences(const Tensor& inputs, const Tensor& lengths) {
  RETURN_IF_ERROR(CheckRank(inputs, 3, "inputs is not a 3-Tensor: inputs"));
  RETURN_IF_ERROR(CheckRank(lengths, 1, "sequence_length is not a vector: sequence_length"));
  Sequences s = {inputs.dim(0), inputs.dim(1), inputs.dim(2), lengths.flat<int32_t>()};
  if (lengths.dim(0) != s.batch) {
    return FailedPreconditionError(
        StrCat("len(sequence_length) != batch_size.  "
               "len(sequence_length):  ",
               lengths.dim(0), " batch_size: ", s.batch));
  }
  for (size_t b = 0; b < s.lengths.size(); ++b) {
    if (s.lengths[b] < 0 || s.lengths[b] > s.time) {
      return FailedPreconditionError(
          StrCat("sequence_length(", b, ") <= ", s.time, " does not hold: ", s.lengths[b]));
    }
  }
  return s;
}

// Sequences of labels, one a batch entry, as a sparse tensor at three outputs.
Status PutLabels(KernelContext& c, int indices_at, int values_at, int shape_at,
                 const std::vector<std::vector<int>>& labels) {
  int64_t n = 0, longest = 0;
  for (const auto& row : labels) {
    n += static_cast<int64_t>(row.size());
    longest = std::max(longest, static_cast<int64_t>(row.size()));
  }
  ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(indices_at, Shape({n, 2})));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(values_at, Shape({n})));
  ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(shape_at, Shape({2})));
  size_t at = 0;
  for (size_t b = 0; b < labels.size(); ++b) {
    for (size_t t = 0; t < labels[b].size(); ++t, ++at) {
      indices->flat<int64_t>()[2 * at] = static_cast<int64_t>(b);
      indices->flat<int64_t>()[2 * at + 1] = static_cast<int64_t>(t);
      values->flat<int64_t>()[at] = labels[b][t];
    }
  }
  shape->flat<int64_t>()[0] = static_cast<int64_t>(labels.size());
  shape->flat<int64_t>()[1] = longest;
  return OkStatus();
}

template <typename T>
Status DecodeGreedily(KernelContext& c, const Sequences& s, bool merge, int64_t blank) {
  const T* x = c.input(0).flat<T>().data();
  ASSIGN_OR_RETURN(Tensor * score, c.AllocateOutput(3, Shape({s.batch, 1})));
  std::vector<std::vector<int>> labels(static_cast<size_t>(s.batch));
  for (int64_t b = 0; b < s.batch; ++b) {
    T total = 0;
    int64_t previous = -1;
    for (int64_t t = 0; t < s.lengths[static_cast<size_t>(b)]; ++t) {
      const T* row = x + (t * s.batch + b) * s.classes;
      const int64_t best = std::max_element(row, row + s.classes) - row;
      total -= row[best];
      if (best != blank && !(merge && best == previous)) {
        labels[static_cast<size_t>(b)].push_back(static_cast<int>(best));
      }
      previous = best;
    }
    score->flat<T>()[static_cast<size_t>(b)] = total;
  }
  return PutLabels(c, 0, 1, 2, labels);
}

StatusOr<KernelFn> BindGreedy(const BindContext& bind) {
  const bool merge = BoolAttr(*bind.node, "merge_repeated");
  const int64_t given = IntAttr(*bind.node, "blank_index", -1);
  return KernelFn([merge, given](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const Sequences s, ReadSequences(c.input(0), c.input(1)));
    const int64_t blank = given < 0 ? given + s.classes : given;
    if (blank < 0 || blank >= s.classes) {
      return InvalidArgumentError(StrCat("blank_index expected to be between ", -s.classes, " and ",
                                         s.classes - 1, " but was ", given));
    }
    return c.input(0).dtype() == DType::kFloat ? DecodeGreedily<float>(c, s, merge, blank)
                                               : DecodeGreedily<double>(c, s, merge, blank);
  });
}

template <typename T>
constexpr T kLogZero = -std::numeric_limits<T>::infinity();

template <typename T>
T LogAdd(T a, T b) {
  if (a == kLogZero<T>) return b;
  if (b == kLogZero<T>) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

template <typename T>
struct Score {
  T total = kLogZero<T>, blank = kLogZero<T>, label = kLogZero<T>;
};

// A prefix of labels, with what came of it at the last two steps.
template <typename T>
struct Prefix {
  Prefix* parent = nullptr;
  int label = -1;
  Score<T> old, now;
  std::map<int, Prefix*> children;
  bool active() const { return now.total != kLogZero<T>; }
};

// Prefix beam search over one sequence; labels with the last class as the blank.
template <typename T>
class Beam {
 public:
  Beam(size_t width, int64_t classes) : width_(width), classes_(classes) {
    root_.now.total = root_.now.blank = 0;
    leaves_.push_back(&root_);
  }

  void Step(const T* x) {
    const int64_t blank = classes_ - 1;
    const T most = *std::max_element(x, x + classes_);
    T sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += std::exp(x[k] - most);
    const T norm = most + std::log(sum);
    std::vector<Prefix<T>*> branches = std::move(leaves_);
    leaves_.clear();
    for (Prefix<T>* b : branches) b->old = b->now;
    for (Prefix<T>* b : branches) {
      if (b->parent != nullptr) {
        if (b->parent->active()) {
          const T before =
              b->label == b->parent->label ? b->parent->old.blank : b->parent->old.total;
          b->now.label = LogAdd(b->now.label, before);
        }
        b->now.label += x[b->label] - norm;
      }
      b->now.blank = b->old.total + x[blank] - norm;
      b->now.total = LogAdd(b->now.blank, b->now.label);
      Push(b);
    }
    for (Prefix<T>* b : branches) {
      if (!IsCandidate(b->old)) continue;
      for (int label = 0; label < blank; ++label) Extend(b, label, x[label] - norm);
    }
  }

  // The best prefixes, best first.
  const std::vector<Prefix<T>*>& leaves() const { return leaves_; }

 private:
  bool IsCandidate(const Score<T>& score) const {
    return score.total > kLogZero<T> &&
           (leaves_.size() < width_ || score.total > leaves_.back()->now.total);
  }
  void Extend(Prefix<T>* b, int label, T log_probability) {
    const auto known = b->children.find(label);
    Prefix<T>* child = known == b->children.end() ? nullptr : known->second;
    if (child != nullptr && child->active()) return;
    Score<T> score;
    score.label = log_probability + (label == b->label ? b->old.blank : b->old.total);
    score.total = score.label;
    if (!IsCandidate(score)) {
      if (child != nullptr) child->old = child->now = Score<T>();
      return;
    }
    if (child == nullptr) {
      child = &prefixes_.emplace_back();
      child->parent = b;
      child->label = label;
      b->children.emplace(label, child);
    }
    child->now = score;
    if (leaves_.size() == width_) {
      leaves_.back()->now = Score<T>();
      leaves_.pop_back();
    }
    Push(child);
  }
  // Keeps the leaves in descending order, older ones first among equals.
  void Push(Prefix<T>* leaf) {
    const auto place = std::upper_bound(
        leaves_.begin(), leaves_.end(), leaf,
        [](const Prefix<T>* a, const Prefix<T>* b) { return a->now.total > b->now.total; });
    leaves_.insert(place, leaf);
  }

  const size_t width_;
  const int64_t classes_;
  std::deque<Prefix<T>> prefixes_;  // all but the root
  Prefix<T> root_;
  std::vector<Prefix<T>*> leaves_;
};

template <typename T>
std::vector<int> LabelsOf(const Prefix<T>* leaf, bool merge) {
  std::vector<int> labels;
  int previous = -1;
  for (; leaf->parent != nullptr; leaf = leaf->parent) {
    if (!merge || leaf->label != previous) labels.push_back(leaf->label);
    previous = leaf->label;
  }
  std::reverse(labels.begin(), labels.end());
  return labels;
}

struct BeamOptions {
  int64_t width = 1, paths = 1;
  bool merge = true;
};

template <typename T>
Status SearchBeams(KernelContext& c, const Sequences& s, const BeamOptions& o) {
  const T* x = c.input(0).flat<T>().data();
  const int n = static_cast<int>(o.paths);
  ASSIGN_OR_RETURN(Tensor * scores, c.AllocateOutput(3 * n, Shape({s.batch, o.paths})));
  std::vector<std::vector<std::vector<int>>> labels(
      static_cast<size_t>(n), std::vector<std::vector<int>>(static_cast<size_t>(s.batch)));
  for (int64_t b = 0; b < s.batch; ++b) {
    Beam<T> beam(static_cast<size_t>(o.width), s.classes);
    for (int64_t t = 0; t < s.lengths[static_cast<size_t>(b)]; ++t) {
      beam.Step(x + (t * s.batch + b) * s.classes);
    }
    if (static_cast<int64_t>(beam.leaves().size()) < o.paths) {
      return InvalidArgumentError("Less leaves in the beam search than requested.");
    }
    for (int p = 0; p < n; ++p) {
      const auto at = static_cast<size_t>(p);
      labels[at][static_cast<size_t>(b)] = LabelsOf(beam.leaves()[at], o.merge);
      scores->flat<T>()[static_cast<size_t>(b * o.paths + p)] = beam.leaves()[at]->now.total;
    }
  }
  for (int p = 0; p < n; ++p) {
    RETURN_IF_ERROR(PutLabels(c, p, n + p, 2 * n + p, labels[static_cast<size_t>(p)]));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindBeam(const BindContext& bind) {
  BeamOptions o;
  o.width = IntAttr(*bind.node, "beam_width", 1);
  o.paths = IntAttr(*bind.node, "top_paths", 1);
  o.merge = BoolAttr(*bind.node, "merge_repeated", true);
  return KernelFn([o](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const Sequences s, ReadSequences(c.input(0), c.input(1)));
    if (s.classes < 1) return InvalidArgumentError("num_classes must be at least 1");
    if (o.paths > o.width) {
      return InvalidArgumentError(
          StrCat("top_paths ", o.paths, " is more than beam_width ", o.width));
    }
    return c.input(0).dtype() == DType::kFloat ? SearchBeams<float>(c, s, o)
                                               : SearchBeams<double>(c, s, o);
  });
}

struct LossOptions {
  bool collapse = false, merge = true, ignore_longer = false;
};

// The labels of each sequence, from the sparse tensor at inputs 1 and 2.
StatusOr<std::vector<std::vector<int>>> ReadLabels(const KernelContext& c, const Sequences& s,
                                                   bool collapse) {
  const Tensor& indices = c.input(1);
  const Tensor& values = c.input(2);
  RETURN_IF_ERROR(CheckRank(indices, 2, "labels_indices is not a matrix: labels_indices"));
  RETURN_IF_ERROR(CheckRank(values, 1, "labels_values is not a vector: labels_values"));
  if (indices.dim(0) != values.dim(0) || indices.dim(1) != 2) {
    return InvalidArgumentError(
        StrCat("labels_indices and labels_values must contain the same "
               "number of rows, but saw shapes: ",
               indices.shape().ToString(), " vs. ", values.shape().ToString()));
  }
  std::vector<std::vector<int>> labels(static_cast<size_t>(s.batch));
  for (int64_t i = 0; i < values.dim(0); ++i) {
    const int64_t b = indices.flat<int64_t>()[static_cast<size_t>(2 * i)];
    const int32_t label = values.flat<int32_t>()[static_cast<size_t>(i)];
    if (b < 0 || b >= s.batch) {
      return InvalidArgumentError(StrCat("labels_indices[", i, "] names batch entry ", b,
                                         ", which is not in [0, ", s.batch, ")"));
    }
    if (label < 0 || label >= s.classes - 1) {
      return InvalidArgumentError(
          StrCat("Saw a non-null label (index >= num_classes - 1) "
                 "following a null label, or a negative one: ",
                 label, " of ", s.classes, " classes"));
    }
    std::vector<int>& row = labels[static_cast<size_t>(b)];
    if (collapse && !row.empty() && row.back() == label) continue;
    row.push_back(label);
  }
  return labels;
}

// Forward and backward over one sequence: y and dy are [time, classes].
template <typename T>
class Alignment {
 public:
  Alignment(const std::vector<int>& labels, int64_t blank, int64_t time, bool merge)
      : time_(time), blank_(blank), merge_(merge) {
    for (int label : labels) {
      path_.push_back(blank);
      path_.push_back(label);
    }
    path_.push_back(blank);
  }

  // The log of the labels' probability; dy becomes its negative's gradient.
  T Run(const std::vector<T>& y, int64_t classes, std::vector<T>& dy) const {
    const int64_t u = size();
    std::vector<T> forward(static_cast<size_t>(u * time_), kLogZero<T>), backward = forward;
    const auto log_y = [&](int64_t i, int64_t t) {
      return std::log(y[static_cast<size_t>(t * classes + path_[static_cast<size_t>(i)])]);
    };
    const auto at = [&](std::vector<T>& v, int64_t i, int64_t t) -> T& {
      return v[static_cast<size_t>(t * u + i)];
    };
    for (int64_t i = 0; i < std::min<int64_t>(2, u); ++i) at(forward, i, 0) = log_y(i, 0);
    for (int64_t t = 1; t < time_; ++t) {
      for (int64_t i = 0; i < u; ++i) {
        T sum = Stays(i) ? at(forward, i, t - 1) : kLogZero<T>;
        if (i > 0) sum = LogAdd(sum, at(forward, i - 1, t - 1));
        if (i > 1 && Skips(i)) sum = LogAdd(sum, at(forward, i - 2, t - 1));
        at(forward, i, t) = log_y(i, t) + sum;
      }
    }
    for (int64_t i = std::max<int64_t>(0, u - 2); i < u; ++i) at(backward, i, time_ - 1) = 0;
    for (int64_t t = time_ - 2; t >= 0; --t) {
      for (int64_t i = 0; i < u; ++i) {
        T sum = Stays(i) ? at(backward, i, t + 1) + log_y(i, t + 1) : kLogZero<T>;
        if (i + 1 < u) sum = LogAdd(sum, at(backward, i + 1, t + 1) + log_y(i + 1, t + 1));
        if (i + 2 < u && Skips(i + 2)) {
          sum = LogAdd(sum, at(backward, i + 2, t + 1) + log_y(i + 2, t + 1));
        }
        at(backward, i, t) = sum;
      }
    }
    T total = kLogZero<T>;
    for (int64_t i = 0; i < u; ++i) total = LogAdd(total, at(forward, i, 0) + at(backward, i, 0));
    dy = y;
    if (total == kLogZero<T>) return total;
    for (int64_t t = 0; t < time_; ++t) {
      std::vector<T> of_class(static_cast<size_t>(classes), kLogZero<T>);
      for (int64_t i = 0; i < u; ++i) {
        T& sum = of_class[static_cast<size_t>(path_[static_cast<size_t>(i)])];
        sum = LogAdd(sum, at(forward, i, t) + at(backward, i, t));
      }
      for (int64_t k = 0; k < classes; ++k) {
        dy[static_cast<size_t>(t * classes + k)] -=
            std::exp(of_class[static_cast<size_t>(k)] - total);
      }
    }
    return total;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(path_.size()); }
  bool Stays(int64_t i) const { return merge_ || path_[static_cast<size_t>(i)] == blank_; }
  bool Skips(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return path_[at] != blank_ && !(merge_ && path_[at] == path_[at - 2]);
  }

  int64_t time_, blank_;
  bool merge_;
  std::vector<int64_t> path_;
};

template <typename T>
Status RunLoss(KernelContext& c, const Sequences& s, const LossOptions& o) {
  ASSIGN_OR_RETURN(const auto labels, ReadLabels(c, s, o.collapse));
  const T* x = c.input(0).flat<T>().data();
  ASSIGN_OR_RETURN(Tensor * loss, c.AllocateOutput(0, Shape({s.batch})));
  ASSIGN_OR_RETURN(Tensor * gradient, c.AllocateOutput(1, c.input(0).shape()));
  std::fill(gradient->flat<T>().begin(), gradient->flat<T>().end(), T{0});
  for (int64_t b = 0; b < s.batch; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t time = s.lengths[at];
    loss->flat<T>()[at] = 0;
    if (time == 0) continue;
    if (static_cast<int64_t>(labels[at].size()) > time) {
      if (o.ignore_longer) continue;
      return InvalidArgumentError(
          StrCat("Not enough time for target transition sequence (required: ", labels[at].size(),
                 ", available: ", time, ") in batch entry ", b,
                 ". ignore_longer_outputs_than_inputs makes this a loss of 0"));
    }
    std::vector<T> y(static_cast<size_t>(time * s.classes)), dy;
    for (int64_t t = 0; t < time; ++t) {
      const T* row = x + (t * s.batch + b) * s.classes;
      T* out = y.data() + t * s.classes;
      const T most = *std::max_element(row, row + s.classes);
      T sum = 0;
      for (int64_t k = 0; k < s.classes; ++k) sum += out[k] = std::exp(row[k] - most);
      for (int64_t k = 0; k < s.classes; ++k) out[k] /= sum;
    }
    const Alignment<T> alignment(labels[at], s.classes - 1, time, o.merge);
    loss->flat<T>()[at] = -alignment.Run(y, s.classes, dy);
    for (int64_t t = 0; t < time; ++t) {
      std::copy_n(dy.data() + t * s.classes, s.classes,
                  gradient->flat<T>().data() + (t * s.batch + b) * s.classes);
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindLoss(const BindContext& bind) {
  LossOptions o;
  o.collapse = BoolAttr(*bind.node, "preprocess_collapse_repeated");
  o.merge = BoolAttr(*bind.node, "ctc_merge_repeated", true);
  o.ignore_longer = BoolAttr(*bind.node, "ignore_longer_outputs_than_inputs");
  return KernelFn([o](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const Sequences s, ReadSequences(c.input(0), c.input(3)));
    if (s.classes < 1) return InvalidArgumentError("num_classes must be at least 1");
    return c.input(0).dtype() == DType::kFloat ? RunLoss<float>(c, s, o) : RunLoss<double>(c, s, o);
  });
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"CTCBeamSearchDecoder", BindBeam, Reals::DTypes(), "T", {}, {}, true},
      {"CTCGreedyDecoder", BindGreedy, Reals::DTypes()},
      {"CTCLoss", BindLoss, Reals::DTypes(), "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> CtcKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
