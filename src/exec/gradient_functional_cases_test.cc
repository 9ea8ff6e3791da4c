// SPDX-License-Identifier: Apache-2.0
//
// Calls, branches, loops, and lists of tensors.
#include "exec/gradient_case_list.h"
#include "exec/testing.h"

namespace slipway::exec::gradient_cases {
namespace {

using ir::FunctionRef;

const std::vector<DType> kOne = {DType::kFloat}, kTwo = {DType::kFloat, DType::kFloat};

// name(x, y) of vectors of 3, one result.
void Define(ir::FunctionLibrary& library, const std::string& name,
            const std::function<Output(GraphBuilder&, Output, Output)>& make) {
  FunctionMaker f(name);
  const Output x = f.Arg("x", DType::kFloat, {3}), y = f.Arg("y", DType::kFloat, {3});
  f.Return("r", make(f.b(), x, y));
  library.Add(f.Take()).IgnoreError();
}

void Branches(ir::FunctionLibrary& library) {
  Define(library, "product", [](GraphBuilder& b, Output x, Output y) {
    return b.Op("Mul", {b.Op("Sin", {x}), b.Op("Mul", {x, y})});
  });
  // One that does not depend on y.
  Define(library, "only_x", [](GraphBuilder& b, Output x, Output) { return b.Op("Square", {x}); });
}

void Loop(ir::FunctionLibrary& library) {
  for (const bool cond : {true, false}) {
    FunctionMaker f(cond ? "cond" : "body");
    const Output i = f.Arg("i", DType::kInt32, {}), n = f.Arg("n", DType::kInt32, {});
    const Output v = f.Arg("v", DType::kFloat, {3}), w = f.Arg("w", DType::kFloat, {3});
    GraphBuilder& b = f.b();
    if (cond) {
      f.Return("r", b.Op("Less", {i, n}));
    } else {
      f.Return("i", b.Op("AddV2", {i, b.Scalar<int32_t>(1)}));
      f.Return("n", n);
      f.Return("v", b.Op("AddV2", {b.Op("Mul", {v, w}), b.Op("Sin", {v})}));
      f.Return("w", w);
    }
    library.Add(f.Take()).IgnoreError();
  }
}

// A loop whose body runs a loop.
void NestedLoop(ir::FunctionLibrary& library) {
  Loop(library);
  for (const bool cond : {true, false}) {
    FunctionMaker f(cond ? "outer_cond" : "outer_body");
    const Output i = f.Arg("i", DType::kInt32, {});
    const Output v = f.Arg("v", DType::kFloat, {3}), w = f.Arg("w", DType::kFloat, {3});
    GraphBuilder& b = f.b();
    const Output two = b.Scalar<int32_t>(2);
    if (cond) {
      f.Return("r", b.Op("Less", {i, two}));
    } else {
      const Outputs inner = b.Ops(
          "StatelessWhile", {b.Scalar<int32_t>(0), two, v, w},
          {{"T", std::vector<DType>{DType::kInt32, DType::kInt32, DType::kFloat, DType::kFloat}},
           {"cond", FunctionRef{"cond", {}}},
           {"body", FunctionRef{"body", {}}}});
      f.Return("i", b.Op("AddV2", {i, b.Scalar<int32_t>(1)}));
      f.Return("v", b.Op("Tanh", {inner.at(2)}));
      f.Return("w", w);
    }
    library.Add(f.Take()).IgnoreError();
  }
}

// A loop that fills a list with what it reads from another one.
void ListLoop(ir::FunctionLibrary& library) {
  for (const bool cond : {true, false}) {
    FunctionMaker f(cond ? "cond" : "body");
    const Output i = f.Arg("i", DType::kInt32, {});
    const Output from = f.Arg("from", DType::kVariant, {}), to = f.Arg("to", DType::kVariant, {});
    const Output state = f.Arg("state", DType::kFloat, {2});
    GraphBuilder& b = f.b();
    if (cond) {
      f.Return("r", b.Op("Less", {i, b.Scalar<int32_t>(3)}));
    } else {
      const Output item = b.Op("TensorListGetItem", {from, i, b.Int32Vector({2})},
                               {{"element_dtype", DType::kFloat}});
      const Output next = b.Op("Tanh", {b.Op("AddV2", {state, b.Op("Mul", {item, item})})});
      f.Return("i", b.Op("AddV2", {i, b.Scalar<int32_t>(1)}));
      f.Return("from", from);
      f.Return("to", b.Op("TensorListSetItem", {to, i, next}));
      f.Return("state", next);
    }
    library.Add(f.Take()).IgnoreError();
  }
}

Output Stack(GraphBuilder& b, Output list) {
  return b.Op("TensorListStack", {list, b.Int32Vector({2})}, {{"element_dtype", DType::kFloat}});
}
Output ListOf(GraphBuilder& b, Output rows) {
  return b.Op("TensorListFromTensor", {rows, b.Int32Vector({2})});
}

}  // namespace

void AddFunctional(Cases& c) {
  for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) {
    c.Plain(op, {Signed({3}), Signed({3}, 1)},
            {{"f", FunctionRef{"product", {}}}, {"Tin", kTwo}, {"Tout", kOne}});
    c.last().functions = Branches;
  }
  for (const char* op : {"If", "StatelessIf"}) {
    for (const bool condition : {true, false}) {
      c.Plain(op, {Tensor::Scalar(condition), Signed({3}), Signed({3}, 1)},
              {{"then_branch", FunctionRef{"product", {}}},
               {"else_branch", FunctionRef{"only_x", {}}},
               {"Tin", kTwo},
               {"Tout", kOne}},
              condition ? "Then" : "Else");
      c.last().functions = Branches;
    }
  }
  for (const char* op : {"Case", "StatelessCase"}) {
    c.Plain(op, {Tensor::Scalar<int32_t>(1), Signed({3}), Signed({3}, 1)},
            {{"branches", std::vector<FunctionRef>{{"only_x", {}}, {"product", {}}}},
             {"Tin", kTwo},
             {"Tout", kOne}});
    c.last().functions = Branches;
  }
  const std::vector<DType> types = {DType::kInt32, DType::kInt32, DType::kFloat, DType::kFloat};
  for (const char* op : {"While", "StatelessWhile"}) {
    for (const int32_t rounds : {0, 1, 4}) {
      c.Plain(op, {Tensor::Scalar<int32_t>(0), Tensor::Scalar(rounds), Signed({3}), Signed({3}, 1)},
              {{"T", types}, {"cond", FunctionRef{"cond", {}}}, {"body", FunctionRef{"body", {}}}},
              std::to_string(rounds));
      c.last().functions = Loop;
      c.last().tolerance = 1e-2;
    }
  }
  c.Add("WhileInWhile", "While", {Signed({3}), Signed({3}, 1)},
        [](GraphBuilder& b, const Outputs& x) -> Outputs {
          return {b.Ops("While", {b.Scalar<int32_t>(0), x[0], x[1]},
                        {{"T", std::vector<DType>{DType::kInt32, DType::kFloat, DType::kFloat}},
                         {"cond", FunctionRef{"outer_cond", {}}},
                         {"body", FunctionRef{"outer_body", {}}}})
                      .at(1)};
        });
  c.last().functions = NestedLoop;
  c.last().tolerance = 1e-2;
  c.Add("WhileWithLists", "While", {Signed({3, 2}), Signed({2}, 1)},
        [](GraphBuilder& b, const Outputs& x) -> Outputs {
          const Output to = b.Op("TensorListReserve", {b.Int32Vector({2}), b.Scalar<int32_t>(3)},
                                 {{"element_dtype", DType::kFloat}});
          const Outputs r = b.Ops("While", {b.Scalar<int32_t>(0), ListOf(b, x[0]), to, x[1]},
                                  {{"T", std::vector<DType>{DType::kInt32, DType::kVariant,
                                                            DType::kVariant, DType::kFloat}},
                                   {"cond", FunctionRef{"cond", {}}},
                                   {"body", FunctionRef{"body", {}}}});
          return r.empty() ? Outputs{} : Outputs{Stack(b, r[2]), r[3]};
        });
  c.last().functions = ListLoop;
  c.last().tolerance = 1e-2;
}

void AddLists(Cases& c) {
  const auto add = [&](const char* op, std::vector<Tensor> inputs,
                       const std::function<Output(GraphBuilder&, const Outputs&)>& make) {
    c.Add(op, op, std::move(inputs),
          [make](GraphBuilder& b, const Outputs& x) -> Outputs { return {make(b, x)}; });
  };
  const AttrMap floats = {{"element_dtype", DType::kFloat}};
  add("TensorListFromTensor", {Signed({3, 2})},
      [](auto& b, auto& x) { return Stack(b, ListOf(b, x[0])); });
  add("TensorListStack", {Signed({3, 2})}, [](auto& b, auto& x) {
    Output list = ListOf(b, x[0]);
    return b.Op("Mul", {Stack(b, list), Stack(b, list)});
  });
  add("TensorListGetItem", {Signed({3, 2})}, [floats](auto& b, auto& x) {
    Output list = ListOf(b, x[0]);
    const auto item = [&](int32_t i) {
      return b.Op("TensorListGetItem", {list, b.template Scalar<int32_t>(i), b.Int32Vector({2})},
                  floats);
    };
    return b.Op("Mul", {item(0), b.Op("Mul", {item(2), item(0)})});
  });
  add("TensorListSetItem", {Signed({3, 2}), Signed({2}, 1)}, [](auto& b, auto& x) {
    Output list = b.Op("TensorListSetItem", {ListOf(b, x[0]), b.template Scalar<int32_t>(1), x[1]});
    return b.Op("Square", {Stack(b, list)});
  });
  add("TensorListPushBack", {Signed({3, 2}), Signed({2}, 1)}, [](auto& b, auto& x) {
    return b.Op("Square", {Stack(b, b.Op("TensorListPushBack", {ListOf(b, x[0]), x[1]}))});
  });
  add("TensorListPopBack", {Signed({3, 2})}, [floats](auto& b, auto& x) {
    Outputs popped = b.Ops("TensorListPopBack", {ListOf(b, x[0]), b.Int32Vector({2})}, floats);
    return popped.empty() ? Output() : b.Op("Mul", {Stack(b, popped[0]), popped[1]});
  });
  add("TensorListGather", {Signed({3, 2})}, [floats](auto& b, auto& x) {
    return b.Op("Square",
                {b.Op("TensorListGather",
                      {ListOf(b, x[0]), b.Int32Vector({2, 0}), b.Int32Vector({2})}, floats)});
  });
  add("TensorListScatterV2", {Signed({2, 2})}, [floats](auto& b, auto& x) {
    Output list = b.Op("TensorListScatterV2", {x[0], b.Int32Vector({2, 0}), b.Int32Vector({2}),
                                               b.template Scalar<int32_t>(3)});
    return b.Op("Square", {Stack(b, list)});
  });
  add("TensorListResize", {Signed({3, 2})}, [](auto& b, auto& x) {
    return b.Op(
        "Square",
        {Stack(b, b.Op("TensorListResize", {ListOf(b, x[0]), b.template Scalar<int32_t>(2)}))});
  });
}

}  // namespace slipway::exec::gradient_cases
