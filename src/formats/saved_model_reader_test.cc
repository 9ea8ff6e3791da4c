// SPDX-License-Identifier: Apache-2.0
//
// Golden models are TensorFlow's (tools/make_saved_model_goldens.py); hostile ones are those,
// changed.
#include "formats/saved_model_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "proto/saved_model.pb.h"

namespace slipway::formats {
namespace {

namespace tf = ::tensorflow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string Golden(const std::string& name) {
  return "tests/golden/saved_models/" + name + "/saved_model";
}

SavedModelFile Read(const std::string& name) {
  auto file = ReadSavedModel(Env::Default(), Golden(name));
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return file.ok() ? *std::move(file) : SavedModelFile();
}

TEST(SavedModelReader, ReadsWhatLoadingNeeds) {
  SavedModelFile file = Read("affine");
  ASSERT_EQ(file.meta_graphs.size(), 1u);
  const MetaGraph& mg = file.meta_graphs[0];
  EXPECT_THAT(mg.tags, ElementsAre("serve"));
  EXPECT_EQ(mg.tensorflow_version, "2.21.0");
  EXPECT_EQ(mg.saver.filename_tensor, "saver_filename:0");
  EXPECT_EQ(mg.saver.restore_op, "StatefulPartitionedCall_2");
  EXPECT_FALSE(mg.saver.is_v1);
  EXPECT_EQ(mg.init_op, "NoOp");
  EXPECT_EQ(mg.signatures.size(), 1u);
  EXPECT_EQ(mg.pseudo_signatures.size(), 1u);
  ASSERT_EQ(mg.variables.size(), 2u);
  EXPECT_EQ(mg.variables[0].name, "a");
  EXPECT_EQ(mg.variables[0].dtype, DType::kFloat);
  EXPECT_TRUE(mg.variables[0].trainable);
}

TEST(SavedModelReader, ReadsSignatures) {
  SavedModelFile file = Read("branches");
  ASSERT_EQ(file.meta_graphs.size(), 1u);
  const SignatureDef& def = file.meta_graphs[0].signatures.at("serving_default");
  EXPECT_EQ(def.method_name, "tensorflow/serving/predict");
  ASSERT_EQ(def.inputs.size(), 2u);
  EXPECT_EQ(def.inputs[0].name, "flag");
  EXPECT_EQ(def.inputs[0].dtype, DType::kBool);
  EXPECT_EQ(def.inputs[0].shape, PartialShape({}));
  EXPECT_EQ(def.inputs[1].name, "x");
  EXPECT_EQ(def.inputs[1].tensor_name, "serving_default_x:0");
  EXPECT_EQ(def.inputs[1].shape, PartialShape({-1}));
  EXPECT_EQ(def.outputs[0].name, "sum");
  EXPECT_EQ(def.outputs[1].name, "y");
}

TEST(SavedModelReader, ReadsFunctionsWhenAskedFor) {
  SavedModelFile file = Read("affine");
  ASSERT_EQ(file.meta_graphs.size(), 1u);
  const ir::FunctionLibrary& functions = *file.meta_graphs[0].functions;
  for (const std::string& name : functions.Names()) {
    auto function = functions.Find(name);
    ASSERT_TRUE(function.ok()) << function.status().ToString();
    if (name.find("traced_restore") == std::string::npos) continue;
    ASSERT_EQ((*function)->args.size(), 3u);
    EXPECT_EQ((*function)->args[0].dtype, DType::kString);
    EXPECT_EQ((*function)->args[1].dtype, DType::kResource);
    const ir::Node* restore = (*function)->graph.FindNode("RestoreV2");
    ASSERT_NE(restore, nullptr);
    EXPECT_EQ(restore->num_outputs(), 3);
    EXPECT_EQ(restore->dtype(2), DType::kString);
  }
}

TEST(SavedModelReader, ReadsText) {
  SavedModelFile text = Read("text");
  ASSERT_EQ(text.meta_graphs.size(), 1u);
  EXPECT_EQ(text.meta_graphs[0].functions->Names(),
            Read("affine").meta_graphs[0].functions->Names());
}

TEST(SavedModelReader, FindsMetaGraphByTags) {
  SavedModelFile file = Read("tags");
  const std::string both[] = {"int8", "serve"};
  auto found = file.Find(both);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, &file.meta_graphs[1]);
  const std::string other[] = {"gpu"};
  const Status status = file.Find(other).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("{serve}, {serve, int8}"));
}

TEST(SavedModelReader, NamesTheFolderWithoutModel) {
  const Status status = ReadSavedModel(Env::Default(), "tests/golden").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("tests/golden"));
}

// ---- hostile files --------------------------------------------------------------------------

std::string Bytes(const std::string& name) {
  return *ReadFile(Env::Default(), Golden(name) + "/saved_model.pb");
}

// The golden model after a change; what reading it and all its functions gives.
Status ReadChanged(const std::string& name, const std::function<void(tf::MetaGraphDef*)>& change,
                   const ReadLimits& limits = {}) {
  tf::SavedModel proto;
  EXPECT_TRUE(proto.ParseFromString(Bytes(name)));
  change(proto.mutable_meta_graphs(0));
  auto file = ParseSavedModel(proto.SerializeAsString(), "saved_model.pb", limits);
  RETURN_IF_ERROR(file.status());
  for (const auto& meta_graph : file->meta_graphs) {
    for (const auto& function : meta_graph.functions->Names()) {
      RETURN_IF_ERROR(meta_graph.functions->Find(function).status());
    }
  }
  return {};
}

tf::NodeDef* FindNode(tf::MetaGraphDef* mg, const std::string& op) {
  for (auto& function : *mg->mutable_graph_def()->mutable_library()->mutable_function()) {
    for (auto& node : *function.mutable_node_def()) {
      if (node.op() == op) return &node;
    }
  }
  ADD_FAILURE() << "no " << op;
  return nullptr;
}

TEST(SavedModelReaderHostile, UnchangedIsFine) {
  EXPECT_TRUE(ReadChanged("affine", [](tf::MetaGraphDef*) {}).ok());
}

TEST(SavedModelReaderHostile, Garbage) {
  std::string bytes = Bytes("affine");
  EXPECT_EQ(ParseSavedModel(bytes.substr(0, bytes.size() / 2), "f").status().code(),
            Code::kDataLoss);
  EXPECT_EQ(ParseSavedModel("\x12\xff\xff\xff\xff\xff\xff", "f").status().code(), Code::kDataLoss);
  for (size_t i = 0; i < bytes.size(); i += 37) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    ParseSavedModel(damaged, "f").status().IgnoreError();  // any answer, no crash
  }
}

TEST(SavedModelReaderHostile, NestedWithoutEnd) {
  tf::SavedModel proto;
  auto* value =
      (*proto.add_meta_graphs()->mutable_object_graph_def()->mutable_concrete_functions())["f"]
          .mutable_output_signature();
  for (int i = 0; i < 300; ++i) value = value->mutable_list_value()->add_values();
  EXPECT_EQ(ParseSavedModel(proto.SerializeAsString(), "f").status().code(), Code::kDataLoss);
}

TEST(SavedModelReaderHostile, DuplicateNode) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    *mg->mutable_graph_def()->add_node() = mg->graph_def().node(0);
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("not unique"));
}

TEST(SavedModelReaderHostile, DuplicateFunction) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    auto* library = mg->mutable_graph_def()->mutable_library();
    const tf::FunctionDef copy = library->function(0);
    *library->add_function() = copy;
  });
  EXPECT_FALSE(status.ok());
}

TEST(SavedModelReaderHostile, MissingInput) {
  const Status status = ReadChanged(
      "affine", [](tf::MetaGraphDef* mg) { FindNode(mg, "Mul")->set_input(0, "ghost:z:0"); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("ghost"));
}

TEST(SavedModelReaderHostile, OutputThatIsNotThere) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    FindNode(mg, "AddV2")->set_input(0, FindNode(mg, "AddV2")->input(0) + "7");
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

TEST(SavedModelReaderHostile, Cycle) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    auto* mul = FindNode(mg, "Mul");
    mul->set_input(0, mul->name() + ":z:0");
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("cycle"));
}

TEST(SavedModelReaderHostile, AttributeMissing) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    FindNode(mg, "ReadVariableOp")->mutable_attr()->erase("dtype");
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("dtype"));
}

TEST(SavedModelReaderHostile, ConstantsThatAreTooLarge) {
  for (const int64_t dim : {int64_t{1} << 40, int64_t{1} << 31, int64_t{-5}}) {
    const Status status = ReadChanged("affine", [dim](tf::MetaGraphDef* mg) {
      auto* tensor = (*FindNode(mg, "Const")->mutable_attr())["value"].mutable_tensor();
      tensor->Clear();
      tensor->set_dtype(tf::DT_FLOAT);
      tensor->mutable_tensor_shape()->add_dim()->set_size(dim);
      if (dim < int64_t{1} << 40) tensor->mutable_tensor_shape()->add_dim()->set_size(dim);
      tensor->add_float_val(2);
    });
    EXPECT_FALSE(status.ok()) << dim;
  }
}

// Each is within the limit, all together are not.
TEST(SavedModelReaderHostile, ManyLargeConstants) {
  ReadLimits limits;
  limits.max_constant_bytes = 1 << 20;
  const auto change = [](tf::MetaGraphDef* mg) {
    for (int i = 0; i < 40; ++i) {
      auto* node = mg->mutable_graph_def()->add_node();
      node->set_name("splat" + std::to_string(i));
      node->set_op("Const");
      (*node->mutable_attr())["dtype"].set_type(tf::DT_FLOAT);
      auto* tensor = (*node->mutable_attr())["value"].mutable_tensor();
      tensor->set_dtype(tf::DT_FLOAT);
      tensor->mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 17);
    }
  };
  const Status status = ReadChanged("affine", change, limits);
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
}

TEST(SavedModelReaderHostile, AssetOutsideTheModel) {
  for (const char* name :
       {"../../../etc/hostname", "/etc/hostname", "a/../../b", "", "http://host/file"}) {
    const Status status = ReadChanged(
        "affine", [name](tf::MetaGraphDef* mg) { mg->add_asset_file_def()->set_filename(name); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
    EXPECT_THAT(status.message(), HasSubstr("asset"));
  }
}

// ---- ops we do not know ---------------------------------------------------------------------

TEST(SavedModelReader, KeepsUnknownOps) {
  tf::SavedModel proto;
  ASSERT_TRUE(proto.ParseFromString(Bytes("affine")));
  auto* mul = FindNode(proto.mutable_meta_graphs(0), "Mul");
  mul->set_op("FrobnicateV7");
  auto file = ParseSavedModel(proto.SerializeAsString(), "f");
  ASSERT_TRUE(file.ok());
  bool found = false;
  for (const auto& name : file->meta_graphs[0].functions->Names()) {
    auto function = file->meta_graphs[0].functions->Find(name);
    ASSERT_TRUE(function.ok()) << function.status().ToString();
    for (const ir::Node* node : (*function)->graph.nodes()) {
      if (node->op() != "FrobnicateV7") continue;
      found = true;
      EXPECT_EQ(node->schema(), nullptr);
      // What it gives is known from who takes it.
      ASSERT_EQ(node->num_outputs(), 1);
      EXPECT_EQ(node->dtype(0), DType::kFloat);
    }
  }
  EXPECT_TRUE(found);
}

// Results of several types under several names: which is which only the missing schema would tell.
TEST(SavedModelReader, KeepsUnknownOpsWhoseUsersDisagree) {
  const Status status = ReadChanged("affine", [](tf::MetaGraphDef* mg) {
    auto* mul = FindNode(mg, "Mul");
    mul->set_op("FrobnicateV7");
    const std::string name = mul->name();
    for (auto& function : *mg->mutable_graph_def()->mutable_library()->mutable_function()) {
      for (auto& node : function.node_def()) {
        if (&node != mul) continue;
        auto* length = function.add_node_def();
        length->set_op("StringLength");
        length->set_name("length");
        length->add_input(name + ":words:0");
        return;
      }
    }
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// An op of the file's own list: its second output is reached through a list that is empty.
TEST(SavedModelReader, ReadsUnknownOpsByTheFilesList) {
  tf::SavedModel proto;
  ASSERT_TRUE(proto.ParseFromString(Bytes("affine")));
  auto* mg = proto.mutable_meta_graphs(0);
  auto* op = mg->mutable_meta_info_def()->mutable_stripped_op_list()->add_op();
  op->set_name("FrobnicateV7");
  auto* first = op->add_output_arg();
  first->set_name("sparse");
  first->set_type_list_attr("Tsparse");
  auto* second = op->add_output_arg();
  second->set_name("z");
  second->set_type(tf::DT_FLOAT);
  op->add_attr()->set_name("Tsparse");
  op->mutable_attr(0)->set_type("list(type)");
  auto* mul = FindNode(mg, "Mul");
  mul->set_op("FrobnicateV7");
  mul->clear_attr();
  (*mul->mutable_attr())["Tsparse"].mutable_list();
  auto file = ParseSavedModel(proto.SerializeAsString(), "f");
  ASSERT_TRUE(file.ok());
  for (const auto& name : file->meta_graphs[0].functions->Names()) {
    auto function = file->meta_graphs[0].functions->Find(name);
    EXPECT_TRUE(function.ok()) << function.status().ToString();
  }
}

TEST(SavedModelReader, ReadsCallsByFunctionName) {
  tf::SavedModel proto;
  ASSERT_TRUE(proto.ParseFromString(Bytes("affine")));
  auto* mg = proto.mutable_meta_graphs(0);
  auto* call = FindNode(mg, "StatefulPartitionedCall");
  ASSERT_NE(call, nullptr);
  call->set_op(call->attr().at("f").func().name());
  call->clear_attr();
  // Results then go by the names that the function gives them.
  for (auto& function : *mg->mutable_graph_def()->mutable_library()->mutable_function()) {
    bool calls = false;
    for (auto& node : *function.mutable_node_def()) calls = calls || &node == call;
    for (auto& node : *function.mutable_node_def()) {
      if (!calls || node.input_size() == 0) continue;
      if (node.input(0) == call->name() + ":output:0") {
        node.set_input(0, call->name() + ":identity:0");
      }
    }
  }
  auto file = ParseSavedModel(proto.SerializeAsString(), "f");
  ASSERT_TRUE(file.ok());
  for (const auto& name : file->meta_graphs[0].functions->Names()) {
    auto function = file->meta_graphs[0].functions->Find(name);
    EXPECT_TRUE(function.ok()) << function.status().ToString();
  }
}

TEST(FindTensor, ReadsNames) {
  SavedModelFile file = Read("affine");
  const ir::Graph& graph = file.meta_graphs[0].graph;
  EXPECT_EQ(FindTensor(graph, "serving_default_x")->index, 0);
  EXPECT_EQ(FindTensor(graph, "serving_default_x:0")->node->op(), "Placeholder");
  EXPECT_EQ(FindTensor(graph, "serving_default_x:7").status().code(), Code::kOutOfRange);
  EXPECT_EQ(FindTensor(graph, "not_there:0").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(FindTensor(graph, "serving_default_x:y").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace slipway::formats
