// SPDX-License-Identifier: Apache-2.0
#include "model/op_risks.h"

#include <algorithm>
#include <span>

namespace slipway::model {
namespace {

// Checkpoints are files, and so are the caches, snapshots and summaries of input pipelines.
constexpr std::string_view kReaders[] = {
    "CSVDataset",
    "DTensorRestoreV2",
    "ExperimentalLMDBDataset",
    "FixedUnigramCandidateSampler",
    "RecordInput",
    "Skipgram",
    "CSVDatasetV2",
    "ExperimentalCSVDataset",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "FixedLengthRecordReader",
    "FixedLengthRecordReaderV2",
    "GenerateVocabRemapping",
    "IdentityReaderV2",
    "ImmutableConst",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "LMDBDataset",
    "LMDBReader",
    "ListSnapshotChunksDataset",
    "LoadAndRemapMatrix",
    "LoadDataset",
    "MatchingFiles",
    "MatchingFilesDataset",
    "ReadFile",
    "Restore",
    "RestoreSlice",
    "RestoreV2",
    "SnapshotChunkDataset",
    "SnapshotDatasetReader",
    "SqlDataset",
    "TFRecordDataset",
    "TFRecordDatasetV2",
    "TFRecordReader",
    "TFRecordReaderV2",
    "TextLineDataset",
    "TextLineReader",
    "TextLineReaderV2",
    "WholeFileReader",
    "WholeFileReaderV2",
};
constexpr std::string_view kWriters[] = {
    "CalibrationStatisticsSaver",
    "CacheDataset",
    "DumpTensor",
    "CacheDatasetV2",
    "CreateSummaryDbWriter",
    "CreateSummaryFileWriter",
    "DatasetToTFRecord",
    "DebugIdentity",
    "DebugIdentityV2",
    "DebugIdentityV3",
    "DebugNanCount",
    "DebugNumericSummary",
    "DistributedSave",
    "ExperimentalDatasetToTFRecord",
    "ImportEvent",
    "MergeV2Checkpoints",
    "Save",
    "SaveDataset",
    "SaveDatasetV2",
    "SaveSlices",
    "SaveV2",
    "SnapshotDataset",
    "SnapshotDatasetV2",
    "WriteFile",
};
constexpr std::string_view kNetwork[] = {
    "DataServiceDataset",
    "DataServiceDatasetV2",
    "DataServiceDatasetV3",
    "DataServiceDatasetV4",
    "RegisterDataset",
    "RegisterDatasetV2",
    "RpcCall",
    "RpcClient",
    "RpcServer",
    "RpcServerRegister",
    "RpcServerStart",
    "ConfigureDistributedTPU",
};
constexpr std::string_view kCode[] = {
    "EagerPyFunc", "PyFunc",        "PyFuncStateless", "GeneratorDataset",
    "TRTEngineOp", "XlaCustomCall", "XlaCustomCallV2",
};

bool Holds(std::span<const std::string_view> ops, std::string_view op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

std::optional<OpRisk> RiskOf(std::string_view op) {
  if (Holds(kReaders, op)) return OpRisk::kReadsFiles;
  if (Holds(kWriters, op)) return OpRisk::kWritesFiles;
  if (Holds(kNetwork, op)) return OpRisk::kNetwork;
  if (Holds(kCode, op)) return OpRisk::kRunsCode;
  return std::nullopt;
}

std::string_view RiskText(OpRisk risk) {
  switch (risk) {
    case OpRisk::kReadsFiles:
      return "reads files";
    case OpRisk::kWritesFiles:
      return "writes files";
    case OpRisk::kNetwork:
      return "reaches other machines";
    case OpRisk::kRunsCode:
      return "runs code that is not in the graph";
  }
  return "";
}

}  // namespace slipway::model
