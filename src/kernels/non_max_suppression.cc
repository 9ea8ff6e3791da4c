// SPDX-License-Identifier: Apache-2.0
//
// Non-max suppression: of boxes that overlap much, the one with the highest score stays.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// [y1, x1, y2, x2], any two opposite corners.
float Overlap(const float* a, const float* b) {
  const auto side = [](const float* box, int i) {
    return std::pair(std::min(box[i], box[i + 2]), std::max(box[i], box[i + 2]));
  };
  const auto [ay, ay2] = side(a, 0);
  const auto [ax, ax2] = side(a, 1);
  const auto [by, by2] = side(b, 0);
  const auto [bx, bx2] = side(b, 1);
  const float area_a = (ay2 - ay) * (ax2 - ax), area_b = (by2 - by) * (bx2 - bx);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float common = std::max(std::min(ay2, by2) - std::max(ay, by), 0.0f) *
                       std::max(std::min(ax2, bx2) - std::max(ax, bx), 0.0f);
  return common / (area_a + area_b - common);
}

struct Thresholds {
  float similarity = 0.5f;
  float score = std::numeric_limits<float>::lowest();
  float sigma = 0;  // over 0: overlaps lower the score instead of striking out
};

struct Candidate {
  int64_t index;
  float score;
  size_t seen;  // selected boxes it was compared with

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.score < b.score || (a.score == b.score && a.index > b.index);
  }
};

struct Selection {
  std::vector<int64_t> indices;
  std::vector<float> scores;
};

// What is left of a score beside such a similarity; of NaN and infinity TensorFlow's arithmetic.
float Weight(const Thresholds& t, float similarity) {
  const float scale = t.sigma > 0 ? -0.5f / t.sigma : 0;
  return t.sigma > 0 || similarity <= t.similarity ? std::exp(scale * similarity * similarity) : 0;
}

// Compares a candidate with what was selected since it was last looked at. True if struck out.
template <typename Similar>
bool Suppress(const Thresholds& t, const Selection& selected, const Similar& similar,
              Candidate* next) {
  for (size_t j = selected.indices.size(); j-- > next->seen;) {
    const float similarity = similar(next->index, selected.indices[j]);
    next->score *= Weight(t, similarity);
    if (t.sigma <= 0 && similarity > t.similarity) return true;
    if (next->score <= t.score) return false;
  }
  next->seen = selected.indices.size();
  return false;
}

// At most `limit` of the boxes, by falling score; equal scores by index.
template <typename Similar>
Selection Select(std::span<const float> scores, int64_t limit, const Thresholds& t,
                 const Similar& similar) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > t.score) candidates.push_back({static_cast<int64_t>(i), scores[i], 0});
  }
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(candidates));
  Selection selected;
  while (static_cast<int64_t>(selected.indices.size()) < limit && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float before = next.score;
    if (Suppress(t, selected, similar, &next)) continue;
    if (next.score == before) {
      selected.indices.push_back(next.index);
      selected.scores.push_back(next.score);
    } else if (next.score > t.score) {
      queue.push(next);
    }
  }
  return selected;
}

// Values of a float or half tensor as floats.
std::vector<float> Floats32(const Tensor& t) {
  std::vector<float> values(static_cast<size_t>(t.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] =
        t.dtype() == DType::kFloat ? t.flat<float>()[i] : static_cast<float>(t.flat<Half>()[i]);
  }
  return values;
}

StatusOr<int64_t> ReadLimit(const Tensor& t) {
  RETURN_IF_ERROR(CheckScalar(t, "max_output_size"));
  const int64_t limit = t.scalar<int32_t>();
  if (limit >= 0) return limit;
  return InvalidArgumentError(StrCat("max_output_size must be non-negative, but is ", limit));
}

StatusOr<float> ReadThreshold(const KernelContext& ctx, int i, std::string_view what) {
  ASSIGN_OR_RETURN(const double value, ReadFloat(ctx.input(i), what));
  return static_cast<float>(value);
}

Status CheckSimilarity(float threshold) {
  if (threshold >= 0 && threshold <= 1) return OkStatus();
  return InvalidArgumentError(StrCat("iou_threshold must be in [0, 1], but is ", threshold));
}

Status CheckScores(const Tensor& scores, int64_t boxes) {
  if (scores.rank() == 1 && scores.dim(0) == boxes) return OkStatus();
  return InvalidArgumentError(StrCat("scores has incompatible shape: ", scores.shape().ToString(),
                                     " for ", boxes, " boxes"));
}

Status CheckBoxes(const Tensor& boxes) {
  if (boxes.rank() != 2) {
    return InvalidArgumentError(StrCat("boxes must be 2-D", boxes.shape().ToString()));
  }
  if (boxes.dim(1) == 4) return OkStatus();
  return InvalidArgumentError(StrCat("boxes must have 4 columns", boxes.shape().ToString()));
}

Status WriteIndices(KernelContext& ctx, const Selection& s, int64_t size) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({size})));
  std::fill_n(out->flat<int32_t>().data(), size, 0);
  for (size_t i = 0; i < s.indices.size(); ++i) {
    out->flat<int32_t>()[i] = static_cast<int32_t>(s.indices[i]);
  }
  return OkStatus();
}

Status WriteCount(KernelContext& ctx, int output, const Selection& s) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(output, Shape()));
  out->flat<int32_t>()[0] = static_cast<int32_t>(s.indices.size());
  return OkStatus();
}

Status WriteScores(KernelContext& ctx, const Selection& s, int64_t size) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(1, Shape({size})));
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<size_t>(i);
    const float score = at < s.scores.size() ? s.scores[at] : 0;
    if (out->dtype() == DType::kFloat) {
      out->flat<float>()[at] = score;
    } else {
      out->flat<Half>()[at] = Half(score);
    }
  }
  return OkStatus();
}

struct NmsSpec {
  int version = 1;  // 1 to 5
  float similarity = 0.5f;
  bool pads = false;
};

StatusOr<Thresholds> ReadThresholds(const KernelContext& ctx, const NmsSpec& spec) {
  Thresholds t;
  t.similarity = spec.similarity;
  if (spec.version >= 2) {
    ASSIGN_OR_RETURN(t.similarity, ReadThreshold(ctx, 3, "iou_threshold"));
  }
  if (spec.version >= 3) {
    ASSIGN_OR_RETURN(t.score, ReadThreshold(ctx, 4, "score_threshold"));
  }
  if (spec.version >= 5) {
    ASSIGN_OR_RETURN(t.sigma, ReadThreshold(ctx, 5, "soft_nms_sigma"));
    if (!(t.sigma >= 0)) {
      return InvalidArgumentError(StrCat("soft_nms_sigma must be non-negative, but is ", t.sigma));
    }
  }
  RETURN_IF_ERROR(CheckSimilarity(t.similarity));
  return t;
}

Status RunNms(KernelContext& ctx, const NmsSpec& spec) {
  ASSIGN_OR_RETURN(const int64_t limit, ReadLimit(ctx.input(2)));
  ASSIGN_OR_RETURN(const Thresholds t, ReadThresholds(ctx, spec));
  RETURN_IF_ERROR(CheckBoxes(ctx.input(0)));
  RETURN_IF_ERROR(CheckScores(ctx.input(1), ctx.input(0).dim(0)));
  const std::vector<float> boxes = Floats32(ctx.input(0)), scores = Floats32(ctx.input(1));
  const Selection s = Select(scores, limit, t, [&](int64_t i, int64_t j) {
    return Overlap(boxes.data() + 4 * i, boxes.data() + 4 * j);
  });
  const int64_t size = spec.pads ? limit : static_cast<int64_t>(s.indices.size());
  RETURN_IF_ERROR(WriteIndices(ctx, s, size));
  if (spec.version == 4) return WriteCount(ctx, 1, s);
  if (spec.version < 5) return OkStatus();
  RETURN_IF_ERROR(WriteScores(ctx, s, size));
  return WriteCount(ctx, 2, s);
}

StatusOr<KernelFn> BindNms(const BindContext& bind) {
  const std::string& op = bind.node->op();
  NmsSpec spec;
  if (op.back() >= '2' && op.back() <= '5') spec.version = op.back() - '0';
  spec.similarity = AttrOr<float>(*bind.node, "iou_threshold", 0.5f);
  spec.pads = BoolAttr(*bind.node, "pad_to_max_output_size");
  return KernelFn([spec](KernelContext& ctx) { return RunNms(ctx, spec); });
}

StatusOr<KernelFn> BindNmsWithOverlaps(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor& overlaps = ctx.input(0);
    ASSIGN_OR_RETURN(const int64_t limit, ReadLimit(ctx.input(2)));
    Thresholds t;
    ASSIGN_OR_RETURN(t.similarity, ReadThreshold(ctx, 3, "overlap_threshold"));
    ASSIGN_OR_RETURN(t.score, ReadThreshold(ctx, 4, "score_threshold"));
    if (overlaps.rank() != 2 || overlaps.dim(0) != overlaps.dim(1)) {
      return InvalidArgumentError(
          StrCat("overlaps must be square, but has shape ", overlaps.shape().ToString()));
    }
    const int64_t n = overlaps.dim(0);
    RETURN_IF_ERROR(CheckScores(ctx.input(1), n));
    const Selection s = Select(ctx.input(1).flat<float>(), limit, t, [&](int64_t i, int64_t j) {
      return overlaps.flat<float>()[static_cast<size_t>(i * n + j)];
    });
    return WriteIndices(ctx, s, static_cast<int64_t>(s.indices.size()));
  });
}

// Boxes of several classes at once, for a batch of images.
struct CombinedNms {
  bool pad_per_class = false, clip = true;
  int64_t boxes = 0, box_classes = 0, classes = 0;
  int64_t per_class = 0, total = 0;
  Thresholds thresholds;

  struct Found {
    float score;
    int64_t index, of_class;
  };

  int64_t output_size() const {
    return pad_per_class ? std::min(total, per_class * classes) : total;
  }
  const float* Box(const float* image, int64_t index, int64_t of_class) const {
    return image + (index * box_classes + (box_classes > 1 ? of_class : 0)) * 4;
  }

  std::vector<Found> Image(const float* image, const float* scores) const {
    std::vector<Found> found;
    std::vector<float> of_class(static_cast<size_t>(boxes));
    for (int64_t c = 0; c < classes; ++c) {
      for (int64_t i = 0; i < boxes; ++i)
        of_class[static_cast<size_t>(i)] = scores[i * classes + c];
      const Selection s = Select(of_class, per_class, thresholds, [&](int64_t i, int64_t j) {
        return Overlap(Box(image, i, c), Box(image, j, c));
      });
      for (size_t k = 0; k < s.indices.size(); ++k) found.push_back({s.scores[k], s.indices[k], c});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    return found;
  }
};

StatusOr<CombinedNms> ReadCombined(const KernelContext& ctx, CombinedNms nms) {
  const Tensor &boxes = ctx.input(0), &scores = ctx.input(1);
  RETURN_IF_ERROR(CheckRank(boxes, 4, "boxes"));
  RETURN_IF_ERROR(CheckRank(scores, 3, "scores"));
  nms.boxes = boxes.dim(1);
  nms.box_classes = boxes.dim(2);
  nms.classes = scores.dim(2);
  if (boxes.dim(3) != 4 || scores.dim(0) != boxes.dim(0) || scores.dim(1) != nms.boxes ||
      (nms.box_classes != 1 && nms.box_classes != nms.classes)) {
    return InvalidArgumentError(StrCat(
        "boxes of shape ", boxes.shape().ToString(), " do not fit scores of shape ",
        scores.shape().ToString(), ": third dimension of boxes must be either 1 or num classes"));
  }
  for (int i = 2; i <= 5; ++i) {
    static constexpr const char* kNames[] = {"max_size_per_class", "max_total_size",
                                             "iou_threshold", "score_threshold"};
    RETURN_IF_ERROR(CheckScalar(ctx.input(i), kNames[i - 2]));
  }
  nms.per_class = ctx.input(2).scalar<int32_t>();
  nms.total = ctx.input(3).scalar<int32_t>();
  if (nms.per_class <= 0 || nms.total <= 0) {
    return InvalidArgumentError(
        StrCat(nms.per_class <= 0 ? "max_size_per_class" : "max_total_size", " must be positive"));
  }
  nms.thresholds.similarity = ctx.input(4).scalar<float>();
  nms.thresholds.score = ctx.input(5).scalar<float>();
  RETURN_IF_ERROR(CheckSimilarity(nms.thresholds.similarity));
  return nms;
}

Status RunCombined(KernelContext& ctx, const CombinedNms& attributes) {
  ASSIGN_OR_RETURN(const CombinedNms nms, ReadCombined(ctx, attributes));
  const int64_t batch = ctx.input(0).dim(0), size = nms.output_size();
  ASSIGN_OR_RETURN(const int64_t places, CheckedMul(batch, size, "Number of boxes"));
  RETURN_IF_ERROR(CheckedMul(places, 16, "Size of boxes").status());
  ASSIGN_OR_RETURN(Tensor * boxes, ctx.AllocateOutput(0, Shape({batch, size, 4})));
  ASSIGN_OR_RETURN(Tensor * scores, ctx.AllocateOutput(1, Shape({batch, size})));
  ASSIGN_OR_RETURN(Tensor * classes, ctx.AllocateOutput(2, Shape({batch, size})));
  ASSIGN_OR_RETURN(Tensor * counts, ctx.AllocateOutput(3, Shape({batch})));
  for (Tensor* t : {boxes, scores, classes}) {
    std::fill_n(t->flat<float>().data(), t->num_elements(), 0.0f);
  }
  for (int64_t n = 0; n < batch; ++n) {
    const float* image = ctx.input(0).flat<float>().data() + n * nms.boxes * nms.box_classes * 4;
    const auto found =
        nms.Image(image, ctx.input(1).flat<float>().data() + n * nms.boxes * nms.classes);
    const int64_t count = std::min(size, static_cast<int64_t>(found.size()));
    counts->flat<int32_t>()[static_cast<size_t>(n)] = static_cast<int32_t>(count);
    for (int64_t i = 0; i < count; ++i) {
      const CombinedNms::Found& f = found[static_cast<size_t>(i)];
      const auto at = static_cast<size_t>(n * size + i);
      scores->flat<float>()[at] = f.score;
      classes->flat<float>()[at] = static_cast<float>(f.of_class);
      for (size_t k = 0; k < 4; ++k) {
        const float side = nms.Box(image, f.index, f.of_class)[k];
        boxes->flat<float>()[4 * at + k] = nms.clip ? std::clamp(side, 0.0f, 1.0f) : side;
      }
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindCombined(const BindContext& bind) {
  CombinedNms nms;
  nms.pad_per_class = BoolAttr(*bind.node, "pad_per_class");
  nms.clip = BoolAttr(*bind.node, "clip_boxes", true);
  return KernelFn([nms](KernelContext& ctx) { return RunCombined(ctx, nms); });
}

}  // namespace

std::span<const KernelDef> NonMaxSuppressionKernels() {
  const std::vector<DType> types = {DType::kFloat, DType::kHalf};
  static const std::vector<KernelDef> table = MakeKernels({
      {"CombinedNonMaxSuppression", BindCombined, {}, "T", {}, {}, true},
      {"NonMaxSuppression", BindNms},
      {"NonMaxSuppressionV2", BindNms, types},
      {"NonMaxSuppressionV3", BindNms, types},
      {"NonMaxSuppressionV4", BindNms, types},
      {"NonMaxSuppressionV5", BindNms, types},
      {"NonMaxSuppressionWithOverlaps", BindNmsWithOverlaps},
  });
  return table;
}

}  // namespace slipway::kernels
