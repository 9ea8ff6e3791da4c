// SPDX-License-Identifier: Apache-2.0
//
// run_pipeline_cases [--source=DIR] NAME...: datasets beside tf.data (reference/reference_cases.h).
// Each is also stopped after every element and gone on with on a new iterator.
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "reference/reference_cases.h"
#include "slipway/data.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;
using data::Dataset;
using Element = std::vector<Tensor>;
std::vector<TensorSpec> Scalars() {
  return {{.dtype = DType::kInt64, .shape = PartialShape({}), .name = ""}};
}
int64_t Number(const Element& element) { return element[0].flat<int64_t>()[0]; }
Tensor Vector(const std::vector<int64_t>& values) {
  return Tensor::FromValues<int64_t>(values, Shape({static_cast<int64_t>(values.size())}));
}

Dataset::MapFn MapNamed(const std::string& name) {
  const auto of = [](auto fn) {
    return [fn](const Element& e) -> StatusOr<Element> {
      return Element{Tensor::Scalar<int64_t>(fn(e))};
    };
  };
  if (name == "square") return of([](const Element& e) { return Number(e) * Number(e); });
  if (name == "plus_one") return of([](const Element& e) { return Number(e) + 1; });
  if (name == "length") return of([](const Element& e) { return e[0].num_elements(); });
  return nullptr;
}

Dataset::Predicate PredicateNamed(const std::string& name) {
  if (name == "is_even")
    return [](const Element& e) -> StatusOr<bool> { return Number(e) % 2 == 0; };
  if (name == "below6") return [](const Element& e) -> StatusOr<bool> { return Number(e) < 6; };
  return nullptr;
}

Dataset::DatasetFn DatasetNamed(const std::string& name) {
  if (name == "repeat_itself") {
    return [](const Element& e) -> StatusOr<Dataset> {
      ASSIGN_OR_RETURN(const Dataset one, Dataset::Range(Number(e), Number(e) + 1));
      return one.Repeat(3);
    };
  }
  if (name == "count_to") return [](const Element& e) { return Dataset::Range(0, Number(e)); };
  if (name == "ten_times_plus_range") {
    return [](const Element& e) { return Dataset::Range(10 * Number(e), 10 * Number(e) + 4); };
  }
  return nullptr;
}

Status Unknown(const std::string& what) { return UnimplementedError(StrCat("no ", what)); }

StatusOr<Dataset> Pipeline(const Json& j);

StatusOr<Dataset> Source(const Json& j) {
  const std::string op = j.at("op");
  if (op == "range") {
    const auto args = j.at("args").get<std::vector<int64_t>>();
    return Dataset::Range(args.size() > 1 ? args[0] : 0, args.size() > 1 ? args[1] : args[0],
                          args.size() > 2 ? args[2] : 1);
  }
  if (op == "list")
    return Dataset::FromTensorSlices({Vector(j.at("values").get<std::vector<int64_t>>())});
  if (op == "ragged_rows") {
    const auto rows = j.at("rows").get<std::vector<std::vector<int64_t>>>();
    ASSIGN_OR_RETURN(const Dataset at, Dataset::Range(0, static_cast<int64_t>(rows.size())));
    std::vector<TensorSpec> spec = Scalars();
    spec[0].shape = PartialShape({-1});
    const auto row = [rows](const Element& e) -> StatusOr<Element> {
      return Element{Vector(rows[static_cast<size_t>(Number(e))])};
    };
    // Of unknown number, as a generator's.
    return at.Map(row, spec).Filter([](const Element&) -> StatusOr<bool> { return true; });
  }
  std::vector<Dataset> of;
  if (op == "zip" || op == "concatenate") {
    for (const Json& one : j.at("of")) {
      ASSIGN_OR_RETURN(Dataset dataset, Pipeline(one));
      of.push_back(std::move(dataset));
    }
  }
  if (op == "zip") return Dataset::Zip(std::move(of));
  if (op != "concatenate") return Unknown("source " + op);
  Dataset all = of.at(0);
  for (size_t i = 1; i < of.size(); ++i) all = all.Concatenate(of[i]);
  return all;
}

StatusOr<Dataset> PaddedBatch(const Dataset& d, const Json& j) {
  Dataset::PaddedBatchOptions options;
  options.drop_remainder = j.value("drop_remainder", false);
  if (j.contains("padding_values"))
    options.values = {Tensor::Scalar<int64_t>(j.at("padding_values").get<int64_t>())};
  if (j.contains("padded_shapes"))
    options.shapes = {PartialShape(j.at("padded_shapes").get<std::vector<int64_t>>())};
  return d.PaddedBatch(j.at("batch_size"), std::move(options));
}

// Stages that take a function by name.
StatusOr<Dataset> FunctionStage(const Dataset& d, const Json& j) {
  const std::string op = j.at("op");
  const std::string name = j.value("map_func", j.value("predicate", ""));
  if (op == "map" && MapNamed(name)) return d.Map(MapNamed(name), Scalars());
  if (op == "filter" && PredicateNamed(name)) return d.Filter(PredicateNamed(name));
  if (op == "take_while" && PredicateNamed(name)) return d.TakeWhile(PredicateNamed(name));
  if (op == "flat_map" && DatasetNamed(name)) return d.FlatMap(DatasetNamed(name), Scalars());
  if (op == "interleave" && DatasetNamed(name)) {
    return d.Interleave(DatasetNamed(name), Scalars(), j.at("cycle_length"), j.at("block_length"));
  }
  return Unknown(StrCat("stage ", op, " with function '", name, "'"));
}

StatusOr<Dataset> StageOf(const Dataset& d, const Json& j) {
  const std::string op = j.at("op");
  if (op == "batch") return d.Batch(j.at("batch_size"), j.value("drop_remainder", false));
  if (op == "rebatch")
    return d.Unbatch().Batch(j.at("batch_size"), j.value("drop_remainder", false));
  if (op == "padded_batch") return PaddedBatch(d, j);
  if (op == "unbatch") return d.Unbatch();
  if (op == "repeat") return d.Repeat(j.value("count", int64_t{-1}));
  if (op == "take") return d.Take(j.at("count"));
  if (op == "skip") return d.Skip(j.at("count"));
  if (op == "prefetch") return d.Prefetch(j.at("buffer_size"));
  if (op == "cache") return d.Cache();
  if (op == "enumerate") return d.Enumerate(j.value("start", int64_t{0}));
  if (op == "shard") return d.Shard(j.at("num_shards"), j.at("index"));
  if (op == "unique") return d.Unique();
  return FunctionStage(d, j);
}

StatusOr<Dataset> Pipeline(const Json& j) {
  ASSIGN_OR_RETURN(Dataset dataset, Source(j.at("source")));
  for (const Json& stage : j.value("stages", Json::array())) {
    ASSIGN_OR_RETURN(dataset, StageOf(dataset, stage));
  }
  return dataset;
}

// A tensor as nested lists.
Json Nested(const Tensor& t, int dim, int64_t* at) {
  if (dim == t.rank()) return t.flat<int64_t>()[static_cast<size_t>((*at)++)];
  Json list = Json::array();
  for (int64_t i = 0; i < t.dim(dim); ++i) list.push_back(Nested(t, dim + 1, at));
  return list;
}
Json ToJson(const Element& element) {
  Json parts = Json::array();
  for (const Tensor& t : element) {
    int64_t at = 0;
    parts.push_back(Nested(t, 0, &at));
  }
  return parts.size() == 1 ? parts[0] : parts;
}

// The elements that are left, at most `most`, and where the pass stands after each.
Status Drain(data::Iterator& iterator, size_t most, Json* elements,
             std::vector<std::string>* states) {
  while (elements->size() < most) {
    Element element;
    ASSIGN_OR_RETURN(const bool more, iterator.Next(&element));
    if (!more) return OkStatus();
    elements->push_back(ToJson(element));
    ASSIGN_OR_RETURN(std::string state, iterator.SaveState());
    states->push_back(std::move(state));
  }
  return OkStatus();
}

Status Check(const std::string&, const Json& c) {
  ASSIGN_OR_RETURN(const Dataset dataset, Pipeline(c.at("pipeline")));
  const Json& wanted = c.at("expect").at("elements");
  Json got = Json::array();
  std::vector<std::string> states;
  ASSIGN_OR_RETURN(const auto iterator, dataset.MakeIterator());
  RETURN_IF_ERROR(Drain(*iterator, wanted.size() + 1, &got, &states));
  if (got != wanted) return InternalError(StrCat("gives ", got.dump(), ", wanted ", wanted.dump()));
  const int64_t cardinality = c.at("expect").at("cardinality");
  if (dataset.cardinality().value_or(-1) != std::max<int64_t>(cardinality, -1)) {
    return InternalError(
        StrCat("has cardinality ", dataset.cardinality().value_or(-1), ", wanted ", cardinality));
  }
  for (size_t i = 0; i < states.size(); ++i) {
    ASSIGN_OR_RETURN(const auto resumed, dataset.MakeIterator());
    RETURN_IF_ERROR(resumed->RestoreState(states[i]));
    Json rest(wanted.begin(), wanted.begin() + static_cast<ptrdiff_t>(i) + 1);
    std::vector<std::string> ignored;
    RETURN_IF_ERROR(Drain(*resumed, wanted.size() + 1, &rest, &ignored));
    if (rest != wanted)
      return InternalError(StrCat("gone on with after ", i + 1, " gives ", rest.dump()));
  }
  return OkStatus();
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  const slipway::ReferenceGroup group = {
      .name = "data", .kind = "pipeline", .lists = "tests/pipelines", .check = slipway::Check};
  return slipway::RunReferenceCases(group, argc, argv);
}
