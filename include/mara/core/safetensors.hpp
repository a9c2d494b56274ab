#pragma once
// Named tensors in a file that other tools read too: the safetensors format, little-endian. Eight bytes with
// the length of a JSON header, the header, then the numbers of all tensors, row-major. Format:
// https://huggingface.co/docs/safetensors/ ("Format").

#include <bit>

#include "mara/core/safetensors_file.hpp"
#include "mara/core/safetensors_writer.hpp"

static_assert(std::endian::native == std::endian::little,
              "mara reads and writes numbers as they lie in memory");
