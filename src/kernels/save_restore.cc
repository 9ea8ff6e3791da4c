// SPDX-License-Identifier: Apache-2.0
//
// Tensor bundles as ops: what restore and save functions of SavedModels are made of.
#include <cstdio>

#include "checkpoint/bundle.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/open_bundle.h"

namespace slipway::kernels {
namespace {

StatusOr<std::string> ReadString(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() != DType::kString || tensor.num_elements() != 1) {
    return InvalidArgumentError(StrCat(what, " must be one string, but is ", tensor.ToString()));
  }
  return tensor.flat<std::string>()[0];
}

// "3,4 0,2:-": a full shape and a part of it. Empty: the whole tensor.
struct Part {
  bool whole = true;
  IntVec dims;
  TensorSlice slice;
  Shape shape() const { return Shape(dims.span()); }
};
StatusOr<Part> ParsePart(std::string_view spec) {
  Part part;
  if (spec.empty()) return part;
  const size_t blank = spec.rfind(' ');
  if (blank == std::string_view::npos) {
    return InvalidArgumentError(StrCat("Slice ", Quoted(spec), " has no shape before its extents"));
  }
  part.whole = false;
  for (std::string_view size : StrSplit(spec.substr(0, blank), ' ')) {
    const auto value = ParseInt64(size);
    if (!value) return InvalidArgumentError(StrCat("Slice ", Quoted(spec), ": bad size"));
    part.dims.push_back(*value);
  }
  if (auto shape = Shape::FromDims(part.dims.span()); !shape.ok()) return shape.status();
  ASSIGN_OR_RETURN(part.slice, TensorSlice::Parse(spec.substr(blank + 1)));
  return part;
}

Status CheckNames(const Tensor& names, const Tensor& slices, int count) {
  if (names.rank() != 1 || slices.rank() != 1 || names.num_elements() != slices.num_elements() ||
      names.num_elements() != count) {
    return InvalidArgumentError(StrCat("tensor_names ", names.shape().ToString(),
                                       " and shape_and_slices ", slices.shape().ToString(),
                                       " must be vectors with one element for each of the ", count,
                                       " tensors"));
  }
  return OkStatus();
}

StatusOr<Tensor> RestoreOne(const BundleReader& reader, const std::string& name,
                            const std::string& spec, DType dtype) {
  ASSIGN_OR_RETURN(const BundleEntry* entry, reader.Find(name));
  if (entry->dtype != dtype) {
    return InvalidArgumentError(StrCat("tensor_name = ", name, "; expected dtype ",
                                       DTypeName(dtype), " does not equal original dtype ",
                                       DTypeName(entry->dtype)));
  }
  ASSIGN_OR_RETURN(Part part, ParsePart(spec));
  if (part.whole) return reader.Read(name);
  if (!(part.shape() == entry->shape)) {
    return InvalidArgumentError(
        StrCat("tensor_name = ", name, "; shape in shape_and_slice spec ", part.shape().ToString(),
               " does not match the shape stored in checkpoint: ", entry->shape.ToString()));
  }
  return reader.ReadSlice(name, part.slice);
}

StatusOr<KernelFn> BindRestore(const BindContext& c) {
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  std::vector<DType> dtypes;
  for (int i = 0; i < c.node->num_outputs(); ++i) dtypes.push_back(c.node->dtype(i));
  return KernelFn([env, dtypes, resources = c.resources](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(std::string prefix, ReadString(ctx.input(0), "prefix"));
    const Tensor& names = ctx.input(1);
    const Tensor& slices = ctx.input(2);
    RETURN_IF_ERROR(CheckNames(names, slices, static_cast<int>(dtypes.size())));
    ASSIGN_OR_RETURN(const auto reader, OpenBundle(resources, env, prefix));
    for (size_t i = 0; i < dtypes.size(); ++i) {
      ASSIGN_OR_RETURN(Tensor value, RestoreOne(*reader, names.flat<std::string>()[i],
                                                slices.flat<std::string>()[i], dtypes[i]));
      ctx.SetOutput(static_cast<int>(i), std::move(value));
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindSave(const BindContext& c) {
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  return KernelFn([env, resources = c.resources](KernelContext& ctx) -> Status {
    CloseBundles(resources);
    ASSIGN_OR_RETURN(std::string prefix, ReadString(ctx.input(0), "prefix"));
    const Tensor& names = ctx.input(1);
    const Tensor& slices = ctx.input(2);
    const int count = ctx.num_inputs() - 3;
    RETURN_IF_ERROR(CheckNames(names, slices, count));
    ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, prefix));
    for (int i = 0; i < count; ++i) {
      const std::string& name = names.flat<std::string>()[static_cast<size_t>(i)];
      ASSIGN_OR_RETURN(Part part, ParsePart(slices.flat<std::string>()[static_cast<size_t>(i)]));
      const Tensor& value = ctx.input(i + 3);
      if (part.whole) {
        RETURN_IF_ERROR(writer->Add(name, value));
      } else {
        RETURN_IF_ERROR(writer->AddSlice(name, part.shape(), part.slice, value));
      }
    }
    return writer->Finish();
  });
}

// Copies every tensor of one bundle into the writer; partitioned ones whole.
Status CopyBundle(Env* env, const std::string& prefix, bool allow_missing, BundleWriter& writer) {
  auto reader = BundleReader::Open(env, prefix);
  if (!reader.ok()) {
    if (allow_missing && reader.status().code() == Code::kNotFound) return OkStatus();
    return std::move(reader).status();
  }
  for (const auto& [key, entry] : (*reader)->entries()) {
    ASSIGN_OR_RETURN(Tensor value, (*reader)->Read(key));
    RETURN_IF_ERROR(writer.Add(key, value));
  }
  return OkStatus();
}

Status RemoveBundle(Env* env, const std::string& prefix) {
  int shards = 0;
  {
    auto reader = BundleReader::Open(env, prefix);
    if (!reader.ok()) return OkStatus();
    shards = (*reader)->num_shards();
  }
  RETURN_IF_ERROR(env->RemoveFile(BundleIndexName(prefix)));
  for (int i = 0; i < shards; ++i) {
    RETURN_IF_ERROR(env->RemoveFile(BundleDataName(prefix, i, shards)));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindMerge(const BindContext& c) {
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  const bool remove = BoolAttr(*c.node, "delete_old_dirs", true);
  const bool allow_missing = BoolAttr(*c.node, "allow_missing_files", false);
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor& prefixes = ctx.input(0);
    if (prefixes.rank() != 1) {
      return InvalidArgumentError(
          StrCat("Input prefixes must be a vector, but has shape ", prefixes.shape().ToString()));
    }
    ASSIGN_OR_RETURN(std::string destination, ReadString(ctx.input(1), "destination_prefix"));
    {
      ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, destination));
      for (const std::string& prefix : prefixes.flat<std::string>()) {
        RETURN_IF_ERROR(CopyBundle(env, prefix, allow_missing, *writer));
      }
      RETURN_IF_ERROR(writer->Finish());
    }
    if (!remove) return OkStatus();
    for (const std::string& prefix : prefixes.flat<std::string>()) {
      if (prefix == destination) continue;
      RETURN_IF_ERROR(RemoveBundle(env, prefix));
      const std::string folder(Dirname(prefix));
      auto rest = env->ListDirectory(folder);
      if (folder != Dirname(destination) && rest.ok() && rest->empty()) {
        RETURN_IF_ERROR(env->RemoveTree(folder));
      }
    }
    return OkStatus();
  });
}

Status RunShardedFilename(KernelContext& c) {
  ASSIGN_OR_RETURN(std::string base, ReadString(c.input(0), "basename"));
  ASSIGN_OR_RETURN(int64_t shard, ReadInt(c.input(1), "shard"));
  ASSIGN_OR_RETURN(int64_t shards, ReadInt(c.input(2), "num_shards"));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), "-%05lld-of-%05lld", static_cast<long long>(shard),
                static_cast<long long>(shards));
  out->flat<std::string>()[0] = base + suffix;
  return OkStatus();
}

StatusOr<KernelFn> BindReadFile(const BindContext& c) {
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  return KernelFn([env](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(std::string path, ReadString(ctx.input(0), "filename"));
    ASSIGN_OR_RETURN(std::string contents, ReadFile(env, path));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
    out->flat<std::string>()[0] = std::move(contents);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindWriteFile(const BindContext& c) {
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  return KernelFn([env](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(std::string path, ReadString(ctx.input(0), "filename"));
    ASSIGN_OR_RETURN(std::string contents, ReadString(ctx.input(1), "contents"));
    RETURN_IF_ERROR(env->CreateDirectories(std::string(Dirname(path))));
    return WriteFile(env, path, contents);
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelDef> table = MakeKernels({
      {"RestoreV2", BindRestore},
      {"SaveV2", BindSave},
      {"MergeV2Checkpoints", BindMerge},
      {"ReadFile", BindReadFile},
      {"WriteFile", BindWriteFile},
      {"ShardedFilename",
       [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunShardedFilename); }},
  });
  for (KernelDef& def : table) def.expensive = def.op != "ShardedFilename";
  return table;
}

}  // namespace

std::span<const KernelDef> SaveRestoreKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
