// The safetensors reader against files that lie: each is refused in one line, none is believed,
// and memory follows the bytes that are there.
#include "invariants/harness/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

size_t allocated_bytes = 0;

void* counted(size_t bytes) {
  allocated_bytes += bytes;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t bytes) { return counted(bytes); }
void* operator new[](size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace gdn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Bytes = std::vector<uint8_t>;

Bytes file_of(const std::string& header, const Bytes& data) {
  Bytes file;
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

std::string why_refused(const Bytes& file) {
  std::string why;
  const auto read = Safetensors::parse(file, "some.safetensors", &why);
  EXPECT_FALSE(read.has_value());
  EXPECT_THAT(why, testing::StartsWith("some.safetensors: "));
  EXPECT_THAT(why, AllOf(HasSubstr("expected"), Not(HasSubstr("\n"))));
  return why;
}

std::string why_refused(const std::string& header, size_t data_bytes = 8) {
  return why_refused(file_of(header, Bytes(data_bytes)));
}

Bytes read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Two tensors, the second at an odd byte, and metadata.
Bytes small_file() {
  return file_of(R"({"__metadata__":{"format":"x"},)"
                 R"("b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                 R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]}})",
                 {7, 8, 9, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
}

// Everything that a caller relies on lies within the file.
void expect_sound(const Safetensors& read, const Bytes& file) {
  size_t bytes = 0;
  for (const StoredTensor& tensor : read.tensors()) {
    ASSERT_GE(tensor.bytes.data(), file.data());
    ASSERT_LE(tensor.bytes.data() + tensor.bytes.size(), file.data() + file.size());
    int64_t count = 1;
    for (const int64_t extent : tensor.shape) count *= extent;
    ASSERT_EQ(tensor.count, count);
    bytes += tensor.bytes.size();
    to_floats(tensor);
  }
  ASSERT_LE(bytes, file.size());
}

TEST(Safetensors, ReadsMetadataShapesAndNumbersAtAnyAlignment) {
  const Bytes file = small_file();
  std::string why;
  const auto read = Safetensors::parse(file, "f", &why);
  ASSERT_TRUE(read.has_value()) << why;
  EXPECT_EQ(read->metadata().at("format"), "x");
  ASSERT_NE(read->find("w"), nullptr);
  EXPECT_EQ(read->find("w")->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(to_floats(*read->find("w")), (std::vector<float>{1.0F, -2.0F}));
  EXPECT_EQ(read->find("b")->bytes[2], 9);
  EXPECT_EQ(read->find("absent"), nullptr);
}

TEST(Safetensors, HalfPrecisionNumbersDecodeExactly) {
  // bf16 1.5 is 0x3fc0, f16 -2 is 0xc000.
  const Bytes file = file_of(R"({"h":{"dtype":"F16","shape":[],"data_offsets":[2,4]},)"
                             R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})",
                             {0xc0, 0x3f, 0x00, 0xc0});
  std::string why;
  const auto read = Safetensors::parse(file, "f", &why);
  ASSERT_TRUE(read.has_value()) << why;
  EXPECT_EQ(to_floats(*read->find("b")), std::vector<float>{1.5F});
  EXPECT_EQ(to_floats(*read->find("h")), std::vector<float>{-2.0F});
}

TEST(Safetensors, KnownTypesThatCannotBeConvertedStayInTheDirectory) {
  const Bytes file = file_of(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", Bytes(8));
  std::string why;
  const auto read = Safetensors::parse(file, "f", &why);
  ASSERT_TRUE(read.has_value()) << why;
  EXPECT_EQ(read->find("i")->type, StoredType::other);
  EXPECT_TRUE(to_floats(*read->find("i")).empty());
}

TEST(Safetensors, EmptyTensorsTakeNoRoom) {
  const Bytes file = file_of(R"({"e":{"dtype":"F32","shape":[0,5],"data_offsets":[4,4]},)"
                             R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   )",
                             Bytes(4));
  std::string why;
  EXPECT_TRUE(Safetensors::parse(file, "f", &why).has_value()) << why;
}

TEST(Safetensors, EveryCutOfAFileIsRefused) {
  const Bytes file = small_file();
  for (size_t length = 0; length < file.size(); ++length) {
    why_refused(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
  }
}

TEST(Safetensors, EveryCutOfACaptureIsRefused) {
  const Bytes whole = read_all(SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors");
  ASSERT_GT(whole.size(), 1000U);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string why;
    const std::span<const uint8_t> cut(whole.data(), length);
    ASSERT_FALSE(Safetensors::parse(cut, "f", &why).has_value()) << length;
  }
}

TEST(Safetensors, EveryCorruptByteOfAHeaderIsRefusedOrHarmless) {
  const Bytes whole = read_all(SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors");
  size_t header_end = 8;
  for (size_t i = 0; i < 8; ++i) header_end += size_t{whole[i]} << (8 * i);
  size_t refused = 0;
  for (size_t at = 0; at < header_end; ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes file = whole;
      file[at] = static_cast<uint8_t>(value);
      std::string why;
      const auto read = Safetensors::parse(file, "f", &why);
      if (read) {
        expect_sound(*read, file);
      } else {
        ++refused;
        ASSERT_EQ(why.find('\n'), std::string::npos);
      }
    }
  }
  EXPECT_GT(refused, header_end * 100);
}

TEST(Safetensors, AHeaderLengthBeyondTheFileIsRefused) {
  Bytes file = small_file();
  for (const uint64_t length : {uint64_t{1} << 20, uint64_t{1} << 63, ~uint64_t{0}, uint64_t{0}}) {
    std::memcpy(file.data(), &length, 8);
    EXPECT_THAT(why_refused(file), HasSubstr("claims a header of"));
  }
}

TEST(Safetensors, BrokenJsonIsRefused) {
  for (const char* header : {"{", "{}x", "{\"a\":}", "[]", "  {}", "{} {}", "{\"a\":{}}", "{'a':1}",
                             "\xef\xbb\xbf{}", "{\"\xff\":{}}", "{/**/}", "nul"}) {
    why_refused(std::string(header), 0);
  }
  why_refused(std::string("{}\0\0", 4), 0);
}

TEST(Safetensors, WrongKindsOfValueAreNamed) {
  const auto entry = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
  const std::string offsets = R"("data_offsets":[0,8])";
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[2])")), HasSubstr("too few fields"));
  EXPECT_THAT(why_refused(entry(R"("dtype":7,"shape":[2],)" + offsets)), HasSubstr("a number in"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[-2],)" + offsets)),
              HasSubstr("a negative number"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[2.0],)" + offsets)),
              HasSubstr("no 64-bit integer"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":"2",)" + offsets)),
              HasSubstr("a string in 'shape'"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[[2]],)" + offsets)),
              HasSubstr("a list in"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])")),
              HasSubstr("two data_offsets"));
  EXPECT_THAT(why_refused(entry(R"("dtype":"F32","shape":[2],"x":1,)" + offsets)),
              HasSubstr("a field 'x'"));
  EXPECT_THAT(why_refused(R"({"__metadata__":{"a":1}})", 0), HasSubstr("expected a string"));
  EXPECT_THAT(why_refused(R"({"__metadata__":[]})", 0), HasSubstr("expected an object"));
  EXPECT_THAT(why_refused(R"({"w":null})", 0), HasSubstr("expected an object"));
}

TEST(Safetensors, NamesAndFieldsGivenTwiceAreRefused) {
  const std::string entry = R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_THAT(why_refused("{" + entry + "," + entry + "}"), HasSubstr("its name twice"));
  EXPECT_THAT(why_refused(R"({"w":{"dtype":"F32","dtype":"F32"}})"), HasSubstr("'dtype' twice"));
  EXPECT_THAT(why_refused(R"({"__metadata__":{"a":"1","a":"2"}})"), HasSubstr("'a' twice"));
}

TEST(Safetensors, AnUnknownTypeIsRefused) {
  EXPECT_THAT(why_refused(R"({"w":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})"),
              HasSubstr("type 'F31'"));
}

TEST(Safetensors, AShapeWhoseProductOverflowsIsRefused) {
  // 2^32 * 2^32 is 0 modulo 2^64, and 2^62 floats have 0 bytes modulo 2^64.
  for (const char* shape : {"[4294967296,4294967296]", "[4611686018427387904]",
                            "[0,18446744073709551615]", "[3037000500,3037000500,4]"}) {
    why_refused(std::string(R"({"w":{"dtype":"F32","data_offsets":[0,0],"shape":)") + shape + "}}",
                0);
  }
}

TEST(Safetensors, RangesThatDisagreeWithTheShapeOrTheFileAreRefused) {
  const auto at = [](const char* offsets) {
    return std::string(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":)") + offsets + "}}";
  };
  EXPECT_THAT(why_refused(at("[0,4]")), HasSubstr("expected 8 for 2 elements"));
  EXPECT_THAT(why_refused(at("[8,0]")), HasSubstr("expected a range within"));
  EXPECT_THAT(why_refused(at("[8,16]")), HasSubstr("expected a range within"));
  EXPECT_THAT(why_refused(at("[18446744073709551608,0]")), HasSubstr("expected a range within"));
}

TEST(Safetensors, OverlapsHolesAndTrailingBytesAreRefused) {
  const auto two = [](const char* first, const char* second) {
    const std::string entry = R"(":{"dtype":"F32","shape":[1],"data_offsets":)";
    return "{\"a" + entry + first + "},\"b" + entry + second + "}}";
  };
  EXPECT_THAT(why_refused(two("[0,4]", "[0,4]")), HasSubstr("overlaps"));
  EXPECT_THAT(why_refused(two("[0,4]", "[2,6]")), HasSubstr("overlaps"));
  EXPECT_THAT(why_refused(two("[0,4]", "[6,10]"), 10), HasSubstr("hole"));
  EXPECT_THAT(why_refused(two("[1,5]", "[5,9]"), 9), HasSubstr("hole"));
  EXPECT_THAT(why_refused(two("[0,4]", "[4,8]"), 9), HasSubstr("the end of its last tensor"));
}

TEST(Safetensors, NamesOfAFileCannotBreakTheLine) {
  const std::string why =
      why_refused("{\"a\\nb\\u001b[2J\":{\"dtype\":\"F31\",\"shape\":[],\"data_offsets\":[0,0]}}");
  EXPECT_THAT(why, HasSubstr("a\\x0ab\\x1b[2J"));
  const std::string name(100'000, 'n');
  EXPECT_LT(why_refused("{\"" + name + "\":1}").size(), 300U);
}

TEST(Safetensors, DeepNestingCostsNoStack) {
  const std::string deep(5'000'000, '[');
  why_refused(R"({"w":)" + deep, 0);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += R"({"a":)";
  why_refused(objects, 0);
}

TEST(Safetensors, MemoryFollowsTheBytesOfTheFileAndNotItsClaims) {
  const Bytes file = file_of(
      R"({"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})", {});
  const size_t before = allocated_bytes;
  why_refused(file);
  // The gmock matchers of why_refused allocate too; both stay far below what is claimed.
  EXPECT_LT(allocated_bytes - before, size_t{1} << 20);
}

TEST(Safetensors, WhatIsNoRegularFileIsRefused) {
  std::string why;
  EXPECT_FALSE(Safetensors::open("/nonexistent/file", &why).has_value());
  EXPECT_THAT(why, HasSubstr("cannot be opened"));
  EXPECT_FALSE(Safetensors::open("/tmp", &why).has_value());
  EXPECT_THAT(why, HasSubstr("not a regular file"));
  EXPECT_FALSE(Safetensors::open("/dev/zero", &why).has_value());
  const std::string pipe = testing::TempDir() + "deltaproof_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(Safetensors::open(pipe, &why).has_value());
  std::remove(pipe.c_str());
}

TEST(Safetensors, AnEmptyFileIsRefused) {
  const std::string path = testing::TempDir() + "deltaproof_empty_" + std::to_string(getpid());
  std::ofstream(path).close();
  std::string why;
  EXPECT_FALSE(Safetensors::open(path, &why).has_value());
  EXPECT_THAT(why, HasSubstr("has 0 bytes"));
  std::remove(path.c_str());
}

TEST(Safetensors, AMappingOutlivesTheObjectThatOpenedIt) {
  std::string why;
  std::optional<Safetensors> copy;
  {
    const auto read =
        Safetensors::open(SOURCE_DIR "/corpus/oracle/gdn_tiny_decode.safetensors", &why);
    ASSERT_TRUE(read.has_value()) << why;
    copy = *read;
  }
  ASSERT_NE(copy->find("h"), nullptr);
  EXPECT_EQ(copy->find("h")->shape, (std::vector<int64_t>{9, 64}));
  EXPECT_EQ(to_floats(*copy->find("h")).size(), 9U * 64U);
}

}  // namespace
}  // namespace gdn
