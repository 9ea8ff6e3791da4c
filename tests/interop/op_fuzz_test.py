#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random calls of single ops, in TensorFlow and in Slipway's kernels: both must fail, with the same
kind of error, or give the same values (docs/compatibility.md says what differs on purpose).

  op_fuzz_test.py CHECKER [--calls N] [--seed S] [--ops OP,OP...] [--failures FILE]

CHECKER is the program check_op_calls. N and S are also read from SLIPWAY_OP_FUZZ_CALLS and
SLIPWAY_OP_FUZZ_SEED. The same seed gives the same calls. Failing calls are written to FILE as op
cases, which can be appended to a file of tests/golden/ops.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from op_cases import framework
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

import op_mutation

# Their answers are not a function of the inputs, or concern files.
NOT_DETERMINISTIC = {
    "RandomUniform", "RandomStandardNormal", "RandomUniformInt", "TruncatedNormal", "RandomShuffle",
    "Multinomial", "RandomGamma", "RandomPoisson", "RandomPoissonV2",
    "ParameterizedTruncatedNormal", "StatefulStandardNormalV2", "StatefulUniform",
    "StatefulUniformInt", "StatefulUniformFullInt", "StatefulTruncatedNormal",
    "NonDeterministicInts", "MergeV2Checkpoints", "ReadFile", "WriteFile", "SaveV2", "RestoreV2",
    "Timestamp", "Empty", "RngReadAndSkip", "RngSkip", "StatelessRandomGetKeyCounter",
    "StatelessRandomGetAlg", "RandomIndexShuffle"}
# Sums and solutions: what cancels leaves an error in proportion to the largest inputs.
SUMMING = ("Conv", "MatMul", "Sum", "Mean", "Prod", "FFT", "Softmax", "Norm", "Cholesky", "Qr",
           "Svd", "Eig", "Solve", "Inverse", "Determinant", "Expm", "Logm", "Sqrtm", "Einsum", "LRN",
           "Pool", "AddN", "Accumulate", "Segment", "Scatter", "Logarithm", "Apply", "CrossEntropy",
           "Cum", "Moments", "CTC", "Bias", "Resize", "LSTM", "GRU", "L2Loss", "Dilation", "Grad")
# What takes TensorFlow longer than that is no case.
SECONDS_PER_CALL = 5
# Kinds of error that say the same: TensorFlow's kernels are not of one mind.
SAME_KIND = [{"INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION", "INTERNAL",
              "UNIMPLEMENTED", "NOT_FOUND"}]
KNOWN = {line.split()[0] for line in
         (pathlib.Path(__file__).parent / "op_fuzz_known.txt").read_text().split("\n")
         if line and not line.startswith("#")}


def read_calls(only):
    calls = collections.defaultdict(list)
    for path in sorted((ROOT / "tests" / "golden" / "ops").glob("*.jsonl")):
        for line in path.read_text().split("\n"):
            if not line.startswith('{"name"'):
                continue
            try:
                call = op_mutation.parse_call(line)
            except op_mutation.Unusable:
                continue
            if call.op not in NOT_DETERMINISTIC and (not only or call.op in only):
                calls[call.op].append(call)
    return calls


def attr_value(kind, value):
    if kind == "type":
        if value not in op_mutation.DTYPES:  # quantised types are not compared
            raise op_mutation.Unusable(value)
        return op_mutation.DTYPES[value]
    if kind == "list(type)":
        return [op_mutation.DTYPES[v] for v in value]
    return value


def tolerance(call):
    """Of the case that the call was made from, where that is not tighter than what the dtype of this
    call can do, and widened where numbers cancel."""
    arrays = [op_mutation.get(call, slot) for slot in op_mutation.slots(call)]
    types = {tf.as_dtype(array.dtype) for array in arrays}
    unit = 1e-11 if types & {tf.float64, tf.complex128} else 1e-5
    if tf.float32 not in types and types & {tf.float16, tf.bfloat16}:
        unit = 4e-3 if tf.float16 in types else 2e-2
    result = {k: v for k, v in call.tolerance.items() if v > unit}
    largest = 1.0
    for array in arrays:
        if tf.as_dtype(array.dtype).is_floating or tf.as_dtype(array.dtype).is_complex:
            sizes = np.abs(array.astype(np.complex128))
            sizes = sizes[np.isfinite(sizes)]
            largest *= max(1.0, float(sizes.max())) if sizes.size else 1.0
    if any(part in call.op for part in SUMMING):
        result["rtol"] = max(result.get("rtol", 0), 4 * unit)
        result["atol"] = max(result.get("atol", 0), 4 * unit * min(largest, 1e8))
    return result


def run_in_tensorflow(call, name):
    """(outputs, after, None), or (None, None, code); None where Python refuses the call."""
    op_def = op_def_registry.get(call.op)
    kinds = {a.name: a.type for a in op_def.attr}
    kwargs = {a.name: attr_value(kinds[a.name], call.attrs[a.name]) for a in op_def.attr
              if a.name in call.attrs}
    inferred = {a.number_attr for a in op_def.input_arg} | {a.type_attr for a in op_def.input_arg} | {
        a.type_list_attr for a in op_def.input_arg}
    kwargs = {k: v for k, v in kwargs.items() if k not in inferred}
    handles = {}
    try:
        for i, arg in enumerate(op_def.input_arg):
            value = call.args[i]
            if i in call.variables:
                handles[i] = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape,
                                                    shared_name=f"{name}_{i}")
                tf.raw_ops.AssignVariableOp(resource=handles[i], value=tf.constant(value))
                kwargs[arg.name] = handles[i]
            elif isinstance(value, list):
                kwargs[arg.name] = [tf.constant(v) for v in value]
            else:
                kwargs[arg.name] = tf.constant(value)
        result = getattr(tf.raw_ops, call.op)(**kwargs)
        after = {i: tf.raw_ops.ReadVariableOp(resource=h, dtype=call.args[i].dtype)
                 for i, h in handles.items()}
    except tf.errors.OpError as e:
        absent = any(text in e.message for text in (
            "Could not find device for node", "No OpKernel", "is not available in GraphDef version"))
        code = framework.CODES.get(e.error_code)
        return None if absent or code is None else (None, None, code)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, NotImplementedError,
            SystemError):
        return None
    finally:
        for handle in handles.values():
            tf.raw_ops.DestroyResourceOp(resource=handle)
    if result is None or isinstance(result, tf.Operation):
        return [], after, None
    outputs = []
    for r in [result] if isinstance(result, tf.Tensor) else result:
        outputs += list(r) if isinstance(r, list) else [r]
    return outputs, after, None


def case_line(call, name):
    answer = run_in_tensorflow(call, name)
    if answer is None:
        return None
    outputs, after, code = answer
    case = {"name": name, "op": call.op, "attrs": call.attrs, "inputs": {}, "variables": {}}
    for n, slot in enumerate(op_mutation.slots(call)):
        where = "variables" if slot[0] in call.variables else "inputs"
        case[where][str(n)] = framework.tensor_json(op_mutation.get(call, slot))
    if not case["variables"]:
        del case["variables"]
    case.update(tolerance(call))
    if code is not None:
        case["error"] = {"code": code, "contains": ""}
        return json.dumps(case, separators=(",", ":"))
    if any(o.dtype not in op_mutation.DTYPES.values() or tf.size(o) > 4 * op_mutation.MAX_ELEMENTS
           for o in outputs):
        return None
    case["outputs"] = {str(i): framework.tensor_json(o) for i, o in enumerate(outputs)}
    if after:
        case["after"] = {str(i): framework.tensor_json(v) for i, v in after.items()}
    return json.dumps(case, separators=(",", ":"))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def write_range(calls, seed, first, last, f):
    for index in range(first, last):
        f.write(f"@{index}\n")
        signal.alarm(SECONDS_PER_CALL)
        try:
            call = op_mutation.random_call(calls, seed, index)
            line = case_line(call, f"{call.op}_fuzz_{seed}_{index}")
        except op_mutation.Unusable:
            continue
        if line is not None:
            f.write(line + "\n")


def write_calls(calls, seed, first, last, path):
    """Calls first to last with TensorFlow's answers; in processes of their own, because there are
    calls that end TensorFlow."""
    while first < last:
        child = os.fork()
        if child == 0:
            limit_memory()
            with open(path, "a", buffering=1) as f, open(os.devnull, "w") as quiet:
                os.dup2(quiet.fileno(), 2)
                try:
                    write_range(calls, seed, first, last, f)
                except Exception:
                    f.write(traceback.format_exc())
                    os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return
        if os.waitstatus_to_exitcode(status) > 0:
            text = pathlib.Path(path).read_text()
            sys.exit("the generator failed at call " + text[text.rindex("@") + 1:])
        text = pathlib.Path(path).read_text()
        first = int(text[text.rindex("@") + 1:].split("\n")[0]) + 1


def check(checker, lines):
    """{line: problem}"""
    problems, start = {}, 0
    while start < len(lines):
        run = subprocess.run([checker], input="\n".join(lines[start:]) + "\n", text=True,
                             errors="replace", capture_output=True, preexec_fn=limit_memory)
        last = -1
        for line in run.stdout.split("\n"):
            if line.startswith("@"):
                last = int(line[1:])
            elif "\t" in line:
                number, problem = line.split("\t", 1)
                problems[start + int(number)] = problem
        if run.returncode == 0:
            break
        problems[start + last] = f"CRASH {run.returncode}: {run.stderr[-400:]}"
        start += last + 1
    return problems


def agreed(case, problem):
    """True for a difference between kinds of error that docs/compatibility.md lists."""
    if "error" in case and problem.startswith("error: "):
        got = problem[len("error: "):].split(":")[0]
        return any({got, case["error"]["code"]} <= kinds for kinds in SAME_KIND)
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checker")
    parser.add_argument("--calls", type=int, default=int(os.environ.get("SLIPWAY_OP_FUZZ_CALLS", 900)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SLIPWAY_OP_FUZZ_SEED", 1)))
    parser.add_argument("--ops", default="")
    parser.add_argument("--failures", default="")
    parser.add_argument("--first", type=int, default=0, help="the first call")
    arguments = parser.parse_args()
    calls = read_calls({op for op in arguments.ops.split(",") if op})
    failures, compared, known = [], 0, 0
    batch = 5000
    for first in range(arguments.first, arguments.first + arguments.calls, batch):
        last = min(first + batch, arguments.first + arguments.calls)
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as f:
            write_calls(calls, arguments.seed, first, last, f.name)
            lines = [line for line in f.read().split("\n") if line.startswith("{")]
        compared += len(lines)
        for number, problem in sorted(check(arguments.checker, lines).items()):
            case = json.loads(lines[number])
            if agreed(case, problem):
                continue
            if case["op"] in KNOWN and not problem.startswith("CRASH"):
                known += 1
            else:
                failures.append(lines[number])
                print(f"{case['name']}: {problem[:600]}", flush=True)
    if arguments.failures:
        pathlib.Path(arguments.failures).write_text("".join(line + "\n" for line in failures))
    print(f"{len(calls)} ops, seed {arguments.seed}: {arguments.calls} calls, {compared} compared, "
          f"{known} known disagreements, {len(failures)} others")
    sys.exit(1 if failures else 0)


main()
