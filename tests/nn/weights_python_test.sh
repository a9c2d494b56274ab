#!/bin/sh
# Weights files and an independent reader and writer: json and struct of Python, nothing of mara.
set -eu
root=${MARA_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
compiler=${CXX:-c++}
if ! python3 -c 'import json, struct' 2>/dev/null; then
  echo 'no python3: nothing to compare with'
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/weights.cpp" <<'CPP'
#include <cstdio>
#include <cstring>

#include "mara/nn/mlp_inference.hpp"
#include "mara/nn/weights_file.hpp"

/// weights save FILE: numbers 1, 2, 3, ... in exact order. weights load FILE: prints what it reads.
int main(int, char** arguments) {
  mara::MlpInference<float, 2, 70, 3> network;
  if (std::strcmp(arguments[1], "save") == 0) {
    std::vector<float> numbers(network.kParameters);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
    network.set_parameters(numbers).value();
    mara::save_weights(network, arguments[2], {{"said", "\"hello\"\n\xC3\xA9"}}).value();
    return 0;
  }
  if (const mara::Status loaded = mara::load_weights(network, arguments[2]); !loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 1;
  }
  for (const float number : network.exact_parameters()) std::printf("%.9g\n", static_cast<double>(number));
}
CPP
"$compiler" -std=c++20 -O0 -I"$root/include" "$work/weights.cpp" -o "$work/weights"

"$work/weights" save "$work/from_mara"
python3 - "$work/from_mara" <<'PY'
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
length, = struct.unpack('<Q', data[:8])
header = json.loads(data[8:8 + length].decode('utf-8'))
buffer = data[8 + length:]
assert (8 + length) % 8 == 0
assert header.pop('__metadata__')['said'] == '"hello"\n\u00e9'
expected, number, end = [('0.weight', [2, 70]), ('0.bias', [1, 70]), ('1.weight', [70, 3]), ('1.bias', [1, 3])], 1, 0
assert sorted(header) == sorted(name for name, _ in expected)
for name, shape in expected:
    tensor, count = header[name], shape[0] * shape[1]
    begin, stop = tensor['data_offsets']
    assert (tensor['dtype'], tensor['shape'], begin, stop - begin) == ('F32', shape, end, 4 * count), (name, tensor)
    assert list(struct.unpack('<%df' % count, buffer[begin:stop])) == list(range(number, number + count)), name
    number, end = number + count, stop
assert end == len(buffer)
PY

python3 - "$work/from_python" "$work/spoiled" <<'PY'
import json, struct, sys
shapes, header, buffer, number = {'1.bias': [3], '1.weight': [70, 3], '0.bias': [70], '0.weight': [2, 70]}, {}, b'', 0.5
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    numbers = [number + i for i in range(count)]
    data = struct.pack('<%dd' % count, *numbers)
    header[name] = {'dtype': 'F64', 'shape': shape, 'data_offsets': [len(buffer), len(buffer) + len(data)]}
    buffer, number = buffer + data, number + count
header['__metadata__'] = {'format': 'pt', 'by': 'python \u00e9'}
for path, text in (sys.argv[1], json.dumps(header)), (sys.argv[2], json.dumps(header).replace('[70, 3]', '[3, 70]')):
    text = text.encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + buffer)
PY
"$work/weights" load "$work/from_python" >"$work/read"
python3 - "$work/read" <<'PY'
import sys
read = [float(line) for line in open(sys.argv[1])]
place = {'1.bias': 0, '1.weight': 3, '0.bias': 213, '0.weight': 283}  # order in the file
expected = []
for name, count in ('0.weight', 140), ('0.bias', 70), ('1.weight', 210), ('1.bias', 3):
    expected += [place[name] + 0.5 + i for i in range(count)]
assert read == expected
PY
if "$work/weights" load "$work/spoiled" 2>"$work/error"; then
  echo 'a file with another shape was loaded'
  exit 1
fi
grep -q 'spoiled: tensor "1.weight": shape \[3, 70\], the network has \[70, 3\]$' "$work/error"
echo 'python and mara read each other'
