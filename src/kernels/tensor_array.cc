// SPDX-License-Identifier: Apache-2.0
//
// Tensor arrays: places that are written once each, and read once unless said otherwise. The array
// belongs to the run that made it and goes when nothing holds its handle.
#include <map>
#include <mutex>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/persistent_vector.h"
#include "kernels/row_blocks.h"
#include "kernels/tensor_list.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct ArrayOptions {
  std::string name;
  DType dtype = DType::kInvalid;
  PartialShape element_shape;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_shapes = false;
  bool aggregate = false;  // a second write adds: gradients
};

// Thread safety: all methods from any thread.
class TensorArray : public Resource {
 public:
  TensorArray(ArrayOptions options, int64_t size) : options_(std::move(options)), places_(size) {}

  std::string DebugString() const override { return "tensor array " + options_.name; }
  DType dtype() const { return options_.dtype; }

  StatusOr<int64_t> Size() {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckOpen());
    return places_.size();
  }
  PartialShape element_shape() {
    std::lock_guard lock(mutex_);
    return options_.element_shape;
  }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    places_.Resize(0);
  }

  Status Write(int64_t index, const Tensor& value);
  StatusOr<Tensor> Read(int64_t index);
  // The array of gradients that goes by `source`, made at the first call.
  StatusOr<std::shared_ptr<TensorArray>> Gradient(const std::string& source,
                                                  const PartialShape& prepend);

 private:
  struct Place {
    Tensor value;
    bool written = false;
    bool cleared = false;
  };

  Status CheckOpen() const {
    return closed_ ? InvalidArgumentError(
                         StrCat("TensorArray ", options_.name, " has already been closed."))
                   : OkStatus();
  }
  Status Error(std::string_view text) const {
    return InvalidArgumentError(StrCat("TensorArray ", options_.name, ": ", text));
  }
  Status CheckWrite(int64_t index, const Tensor& value);
  Status AddTo(Place* place, const Tensor& value) const;

  std::mutex mutex_;
  ArrayOptions options_;
  PersistentVector<Place> places_;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
  bool closed_ = false;
};

Status TensorArray::CheckWrite(int64_t index, const Tensor& value) {
  RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || (index >= places_.size() && !options_.dynamic_size)) {
    return Error(StrCat("Tried to write to index ", index,
                        " but array is not resizeable and size is: ", places_.size()));
  }
  if (value.dtype() != options_.dtype) {
    return Error(StrCat("Could not write to TensorArray index ", index,
                        " because the value dtype is ", DTypeName(value.dtype()),
                        " but TensorArray dtype is ", DTypeName(options_.dtype), "."));
  }
  if (!options_.element_shape.Admits(value.shape())) {
    return Error(StrCat("Could not write to TensorArray index ", index,
                        " because the value shape is ", value.shape().ToString(),
                        " which is incompatible with the TensorArray's inferred element shape: ",
                        options_.element_shape.ToString(),
                        " (consider setting infer_shape=False)."));
  }
  return OkStatus();
}

Status TensorArray::AddTo(Place* place, const Tensor& value) const {
  if (!(place->value.shape() == value.shape())) {
    return Error(StrCat("Could not aggregate to a TensorArray index: shapes ",
                        place->value.shape().ToString(), " and ", value.shape().ToString()));
  }
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = value.dtype();
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  kernel.loop = SwitchType<BinaryLoop>(Numbers{}, compute, []<typename T>() -> BinaryLoop {
    return &BinaryLoopOf<T, T, WrapAdd<T>>;
  });
  if (kernel.loop == nullptr) {
    return Error(StrCat("Values of ", DTypeName(value.dtype()), " cannot be added"));
  }
  ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(value.dtype(), value.shape()));
  kernel.Run(place->value.raw_data(), 1, value.raw_data(), 1, sum.raw_data(), value.num_elements());
  place->value = std::move(sum);
  return OkStatus();
}

Status TensorArray::Write(int64_t index, const Tensor& value) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(CheckWrite(index, value));
  if (index >= places_.size()) places_.Resize(index + 1);
  Place place = places_[index];
  if (place.cleared) {
    return Error(StrCat("Could not write to TensorArray index ", index,
                        " because it has already been read."));
  }
  if (place.written && options_.aggregate) {
    RETURN_IF_ERROR(AddTo(&place, value));
  } else if (place.written) {
    return Error(StrCat("Could not write to TensorArray index ", index,
                        " because it has already been written to."));
  } else {
    place.value = value.Owned();
  }
  place.written = true;
  if (options_.identical_shapes) options_.element_shape = value.shape();
  places_.Set(index, std::move(place));
  return OkStatus();
}

StatusOr<Tensor> TensorArray::Read(int64_t index) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || index >= places_.size()) {
    return Error(
        StrCat("Tried to read from index ", index, " but array size is: ", places_.size()));
  }
  Place place = places_[index];
  if (place.cleared) {
    return Error(StrCat("Could not read index ", index,
                        " twice because it was cleared after a previous read (perhaps try setting "
                        "clear_after_read = false?)."));
  }
  if (!place.written) {
    const auto shape = options_.element_shape.ToShape();
    if (shape) return ZeroTensor(options_.dtype, *shape);
    return Error(StrCat("Could not read from TensorArray index ", index,
                        ". Furthermore, the element shape is not fully defined: ",
                        options_.element_shape.ToString(),
                        ". Set the element_shape of the TensorArray to get zeros for what was "
                        "never written."));
  }
  Tensor value = place.value;
  if (options_.clear_after_read) {
    place.value = Tensor();
    place.cleared = true;
    places_.Set(index, std::move(place));
  }
  return value;
}

StatusOr<std::shared_ptr<TensorArray>> TensorArray::Gradient(const std::string& source,
                                                             const PartialShape& prepend) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(CheckOpen());
  std::shared_ptr<TensorArray>& gradient = gradients_[source];
  if (gradient != nullptr) return gradient;
  ArrayOptions options = options_;
  options.name = StrCat(options_.name, "@", source);
  options.aggregate = true;
  options.clear_after_read = false;
  options.dynamic_size = false;
  if (prepend.has_rank() && options.element_shape.has_rank()) {
    std::vector<int64_t> dims = prepend.dims();
    for (const int64_t dim : options_.element_shape.dims()) dims.push_back(dim);
    options.element_shape = PartialShape(std::move(dims));
  }
  gradient = std::make_shared<TensorArray>(std::move(options), places_.size());
  return gradient;
}

StatusOr<TensorArray*> ArrayOf(const KernelContext& c, int i) {
  const Tensor& handle = c.input(i);
  TensorArray* array = nullptr;
  if (handle.dtype() == DType::kResource && handle.num_elements() == 1) {
    array = dynamic_cast<TensorArray*>(handle.scalar<ResourceHandle>().get());
  }
  if (array != nullptr) return array;
  return InvalidArgumentError(StrCat("Input ", i, " is not the handle of a TensorArray"));
}

// The flow only says what comes before what.
Status SetFlow(KernelContext& c, int output) {
  ASSIGN_OR_RETURN(Tensor * flow, c.AllocateOutput(output, Shape()));
  flow->flat<float>()[0] = 0;
  return OkStatus();
}

StatusOr<KernelFn> BindArray(const BindContext& c) {
  ArrayOptions options;
  options.name = AttrOr<std::string>(*c.node, "tensor_array_name", "");
  if (options.name.empty()) options.name = c.node->name();
  options.dtype = AttrOr<DType>(*c.node, "dtype", DType::kInvalid);
  options.element_shape = AttrOr<PartialShape>(*c.node, "element_shape", PartialShape());
  options.dynamic_size = BoolAttr(*c.node, "dynamic_size");
  options.clear_after_read = BoolAttr(*c.node, "clear_after_read", true);
  options.identical_shapes = BoolAttr(*c.node, "identical_element_shapes");
  return KernelFn([options](KernelContext& ctx) -> Status {
    if (ctx.input(0).rank() != 0) {
      return InvalidArgumentError(StrCat("TensorArray size must be scalar, but had shape: ",
                                         ctx.input(0).shape().ToString()));
    }
    const int32_t size = ctx.input(0).scalar<int32_t>();
    if (size < 0) return InvalidArgumentError("Size should be >= 0.");
    ctx.SetOutput(0, Tensor::Scalar<ResourceHandle>(std::make_shared<TensorArray>(options, size)));
    return SetFlow(ctx, 1);
  });
}

StatusOr<int64_t> ReadIndex(const Tensor& index) {
  if (index.rank() == 0) return index.scalar<int32_t>();
  return InvalidArgumentError(
      StrCat("TensorArray index must be scalar, but had shape: ", index.shape().ToString()));
}

Status RunWrite(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(c, 0));
  ASSIGN_OR_RETURN(const int64_t index, ReadIndex(c.input(1)));
  RETURN_IF_ERROR(array->Write(index, c.input(2)));
  return SetFlow(c, 0);
}

Status CheckDType(const TensorArray& array, DType dtype) {
  if (array.dtype() == dtype) return OkStatus();
  return InvalidArgumentError(StrCat("TensorArray dtype is ", DTypeName(array.dtype()),
                                     " but Op requested dtype ", DTypeName(dtype), "."));
}

StatusOr<KernelFn> BindRead(const BindContext& c) {
  return KernelFn([dtype = c.node->dtype(0)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(ctx, 0));
    RETURN_IF_ERROR(CheckDType(*array, dtype));
    ASSIGN_OR_RETURN(const int64_t index, ReadIndex(ctx.input(1)));
    ASSIGN_OR_RETURN(Tensor value, array->Read(index));
    ctx.SetOutput(0, std::move(value));
    return OkStatus();
  });
}

StatusOr<std::vector<Tensor>> ReadAll(TensorArray* array, std::span<const int32_t> indices) {
  std::vector<Tensor> values;
  for (const int32_t index : indices) {
    ASSIGN_OR_RETURN(Tensor value, array->Read(index));
    values.push_back(std::move(value));
  }
  return values;
}

StatusOr<KernelFn> BindGather(const BindContext& c) {
  const auto given = AttrOr<PartialShape>(*c.node, "element_shape", PartialShape());
  return KernelFn([dtype = c.node->dtype(0), given](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(ctx, 0));
    RETURN_IF_ERROR(CheckDType(*array, dtype));
    RETURN_IF_ERROR(CheckRank(ctx.input(1), 1, "indices"));
    ASSIGN_OR_RETURN(const PartialShape shape, MergeElementShapes(given, array->element_shape()));
    ASSIGN_OR_RETURN(const auto values, ReadAll(array, ctx.input(1).flat<int32_t>()));
    const char* unknown =
        "TensorArray has size zero, but element shape is not fully defined. Currently only static "
        "shapes are supported when packing zero-size TensorArrays. Shape: ";
    return StackRows(
        ctx, dtype, static_cast<int64_t>(values.size()), shape,
        [&](int64_t i) -> StatusOr<const Tensor*> { return &values[static_cast<size_t>(i)]; },
        unknown, unknown);
  });
}

Status RunScatter(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(c, 0));
  RETURN_IF_ERROR(CheckRank(c.input(1), 1, "indices"));
  const Tensor& value = c.input(2);
  if (value.rank() < 1 || value.dim(0) != c.input(1).num_elements()) {
    return InvalidArgumentError(
        StrCat("Expected len(indices) == values.shape[0], but saw: ", c.input(1).num_elements(),
               " and values of shape ", value.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const std::vector<Tensor> rows, TakeRows(value));
  const auto indices = c.input(1).flat<int32_t>();
  for (size_t i = 0; i < rows.size(); ++i) RETURN_IF_ERROR(array->Write(indices[i], rows[i]));
  return SetFlow(c, 0);
}

Status RunSize(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(c, 0));
  ASSIGN_OR_RETURN(const int64_t size, array->Size());
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  out->flat<int32_t>()[0] = static_cast<int32_t>(size);
  return OkStatus();
}

StatusOr<KernelFn> BindConcat(const BindContext& c) {
  const auto rest = AttrOr<PartialShape>(*c.node, "element_shape_except0", PartialShape());
  return KernelFn([dtype = c.node->dtype(0), rest](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(ctx, 0));
    RETURN_IF_ERROR(CheckDType(*array, dtype));
    ASSIGN_OR_RETURN(const int64_t size, array->Size());
    PartialShape shape;
    if (rest.has_rank()) {
      std::vector<int64_t> dims = {-1};
      dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
      shape = PartialShape(std::move(dims));
    }
    std::vector<Tensor> values;
    for (int64_t i = 0; i < size; ++i) {
      ASSIGN_OR_RETURN(Tensor value, array->Read(i));
      values.push_back(std::move(value));
    }
    return ConcatRows(ctx, dtype, size, shape, [&](int64_t i) -> StatusOr<const Tensor*> {
      return &values[static_cast<size_t>(i)];
    });
  });
}

Status RunSplit(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(c, 0));
  ASSIGN_OR_RETURN(const std::vector<Tensor> pieces, SplitRows(c.input(1), c.input(2)));
  for (size_t i = 0; i < pieces.size(); ++i) {
    RETURN_IF_ERROR(array->Write(static_cast<int64_t>(i), pieces[i]));
  }
  return SetFlow(c, 0);
}

Status RunClose(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(c, 0));
  array->Close();
  return OkStatus();
}

StatusOr<KernelFn> BindGradient(const BindContext& c) {
  const auto source = AttrOr<std::string>(*c.node, "source", "");
  const bool prepends = c.node->op() == "TensorArrayGradWithShape";
  return KernelFn([source, prepends](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(TensorArray * array, ArrayOf(ctx, 0));
    PartialShape prepend({});
    if (prepends) {
      ASSIGN_OR_RETURN(prepend, ReadPartialShape(ctx.input(2)));
    }
    ASSIGN_OR_RETURN(auto gradient, array->Gradient(source, prepend));
    ctx.SetOutput(0, Tensor::Scalar<ResourceHandle>(std::move(gradient)));
    return SetFlow(ctx, 1);
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

}  // namespace

std::span<const KernelDef> TensorArrayKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"TensorArrayV3", BindArray},
      {"TensorArrayWriteV3", BindPlain<RunWrite>},
      {"TensorArrayReadV3", BindRead},
      {"TensorArrayGatherV3", BindGather},
      {"TensorArrayScatterV3", BindPlain<RunScatter>},
      {"TensorArraySizeV3", BindPlain<RunSize>},
      {"TensorArrayConcatV3", BindConcat},
      {"TensorArraySplitV3", BindPlain<RunSplit>},
      {"TensorArrayCloseV3", BindPlain<RunClose>},
      {"TensorArrayGradV3", BindGradient},
      {"TensorArrayGradWithShape", BindGradient},
  });
  return table;
}

}  // namespace slipway::kernels
