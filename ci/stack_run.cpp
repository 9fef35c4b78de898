// One thread drives the engine and puts what it read into a queue; the others judge, a token and
// layer at a time. Verdicts are gathered in the order of tokens and layers, whoever gave them.
#include "ci/stack_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "ci/stack_engine.h"
#include "ci/stack_queue.h"
#include "ci/stack_weights.h"
#include "ci/stopwatch.h"
#include "reference/layer.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

// How many rows were summed up, and how many of those the CPU has to sum up again.
struct RowCounts {
  std::atomic<int64_t> all = 0, again = 0;
};

class CountedSums final : public RowSums {
 public:
  CountedSums(std::unique_ptr<RowSums> inner, RowCounts& counts)
      : inner_(std::move(inner)), counts_(counts) {}
  void take(const RowInputs& inputs, std::span<RowSum> out) const override {
    inner_->take(inputs, out);
    counts_.all += static_cast<int64_t>(out.size());
    counts_.again +=
        std::count_if(out.begin(), out.end(), [](const RowSum& sum) { return !is_usable(sum); });
  }

 private:
  std::unique_ptr<RowSums> inner_;
  RowCounts& counts_;
};

// What stays for the whole run.
struct Layer {
  LayerNumbers numbers;
  std::vector<std::unique_ptr<RowSums>> sums;
  LayerInputs inputs;  // without h
};

// Of one token, as the local check takes them.
using Seen = std::shared_ptr<const std::vector<TokenTensors>>;

struct Job {
  size_t index = 0;
  int64_t token = 0, layer = 0;
  std::vector<float> h;
  Seen seen, before;
};

using TensorVerdicts = std::vector<std::pair<Tensor, Verdict>>;

// Threads of this process use no further ones.
class OneThreadEach {
 public:
  OneThreadEach() { set_threads_max(1); }
  ~OneThreadEach() { set_threads_max(before_); }
  OneThreadEach(const OneThreadEach&) = delete;
  OneThreadEach& operator=(const OneThreadEach&) = delete;

 private:
  int64_t before_ = threads_max();
};

TensorVerdicts verdicts_of(const Job& job, const Layer& layer, const Contract& contract) {
  LayerInputs inputs = layer.inputs;
  inputs.h = {job.h};
  const std::vector<TokenExpectation> want =
      expect_local(inputs, *job.seen, contract, job.before ? &job.before->front() : nullptr);
  TensorVerdicts verdicts;
  for (const auto& [tensor, expected] : want.front()) {
    const auto got = job.seen->front().find(tensor);
    if (got == job.seen->front().end() || expected.size() == 0) continue;
    const std::string what =
        fmt::format("{} of token {}, layer {}", name_of(tensor), job.token, job.layer);
    verdicts.emplace_back(tensor, within(what, got->second, expected));
  }
  return verdicts;
}

// The threads that judge.
class Judges {
 public:
  Judges(const StackRun& run, const std::vector<Layer>& layers, const Contract& contract,
         const std::function<void(int64_t)>& progress)
      : layers_(layers),
        contract_(contract),
        progress_(progress),
        queue_(static_cast<size_t>(2 * run.threads)),
        verdicts_(static_cast<size_t>(run.tokens * run.shape.num_layers)) {
    for (int64_t i = 0; i < run.threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Judges() { queue_.close(); }

  // False once a thread has failed.
  bool put(Job job) { return queue_.put(std::move(job)); }
  // All that was put, by its index; throws what a thread threw.
  std::vector<TensorVerdicts> finish() {
    queue_.close();
    threads_.clear();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(verdicts_);
  }
  double busy_seconds() const { return busy_seconds_; }

 private:
  void work() {
    const WorkerEnd end;
    try {
      while (const std::optional<Job> job = queue_.take()) {
        const Stopwatch clock;
        verdicts_[job->index] =
            verdicts_of(*job, layers_[static_cast<size_t>(job->layer)], contract_);
        const std::lock_guard lock(mutex_);
        busy_seconds_ += clock.seconds();
        progress_(++judged_);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      queue_.close();
    }
  }

  const std::vector<Layer>& layers_;
  const Contract& contract_;
  const std::function<void(int64_t)>& progress_;
  BoundedQueue<Job> queue_;
  std::vector<TensorVerdicts> verdicts_;
  std::mutex mutex_;
  int64_t judged_ = 0;
  double busy_seconds_ = 0;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // the last: they end before the rest does
};

std::vector<Layer> layers_of(const StackRun& run) {
  std::vector<Layer> layers(static_cast<size_t>(run.shape.num_layers));
  for (size_t l = 0; l < layers.size(); ++l) {
    layers[l].numbers = stack_weights(run.shape, run.seed, static_cast<int64_t>(l));
  }
  return layers;
}

void load(const StackRun& run, const Dialect& dialect, StackEngine& engine,
          std::vector<Layer>& layers, RowCounts& counts) {
  for (size_t l = 0; l < layers.size(); ++l) {
    Layer& layer = layers[l];
    engine.load(static_cast<int64_t>(l), layer.numbers);
    layer.inputs.shape = run.shape;
    layer.inputs.dialect = dialect;
    LayerWeights& w = layer.inputs.weights = view_of(layer.numbers, run.shape);
    if (run.sums == nullptr) continue;
    for (Matrix* m : {&w.qkv, &w.z, &w.out}) {
      layer.sums.push_back(
          std::make_unique<CountedSums>(run.sums->of_tiles(m->tiles, m->rows, m->cols), counts));
      m->summed_by = layer.sums.back().get();
    }
  }
}

// Feeds every token through every layer; returns how many were put into the queue.
int64_t drive(const StackRun& run, StackEngine& engine, Judges& judges, double& engine_seconds) {
  std::vector<Seen> before(static_cast<size_t>(run.shape.num_layers));
  int64_t put = 0;
  for (int64_t token = 0; token < run.tokens; ++token) {
    std::vector<float> h = stack_input(run.shape, run.seed, token);
    for (int64_t layer = 0; layer < run.shape.num_layers; ++layer) {
      const Stopwatch clock;
      std::optional<TokenTensors> tensors = engine.step(token, layer, h);
      engine_seconds += clock.seconds();
      if (!tensors) return put;
      std::vector<float> next = tensors->at(Tensor::OUT);
      const auto seen = std::make_shared<const std::vector<TokenTensors>>(
          std::initializer_list<TokenTensors>{*std::move(tensors)});
      Seen& last = before[static_cast<size_t>(layer)];
      const auto index = static_cast<size_t>(put);
      if (!judges.put({index, token, layer, std::move(h), seen, last})) return put;
      ++put;
      last = seen;
      h = std::move(next);
    }
  }
  return put;
}

// Verdicts of one token and layer into the rows of their tensors.
class Gathered {
 public:
  void add(int64_t token, int64_t layer, TensorVerdicts verdicts, StackReport& report) {
    bool fails = false;
    std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) {
      return std::pair(operator_of(a.first), a.first) < std::pair(operator_of(b.first), b.first);
    });
    for (auto& [tensor, verdict] : verdicts) {
      fails = fails || verdict.outcome == Outcome::fails;
      if (fails && report.first_failure.empty()) report.first_failure = verdict.detail;
      add(tensor, token, layer, std::move(verdict));
    }
    ++report.token_layers;
    report.failing += fails ? 1 : 0;
  }
  std::vector<StackRow> rows() const {
    std::vector<StackRow> all;
    for (const auto& [place, row] : rows_) all.push_back(row);
    return all;
  }

 private:
  void add(Tensor tensor, int64_t token, int64_t layer, Verdict verdict) {
    const auto [at, is_first] = rows_.try_emplace({operator_of(tensor), tensor});
    StackRow& row = at->second;
    const Verdict& before = row.verdict;
    const bool worse =
        verdict.outcome > before.outcome ||
        (verdict.outcome == before.outcome && verdict.worst_ratio > before.worst_ratio);
    if (is_first || worse) row.tensor = tensor, row.layer = layer, row.token = token;
    row.verdict = is_first ? std::move(verdict) : both(std::move(row.verdict), std::move(verdict));
  }

  std::map<std::pair<Operator, Tensor>, StackRow> rows_;
};

void gather(const StackRun& run, std::vector<TensorVerdicts> verdicts, int64_t put,
            StackReport& report) {
  Gathered gathered;
  for (int64_t i = 0; i < put; ++i) {
    gathered.add(i / run.shape.num_layers, i % run.shape.num_layers,
                 std::move(verdicts[static_cast<size_t>(i)]), report);
  }
  report.rows = gathered.rows();
  report.verdict = report.conduct;
  for (const StackRow& row : report.rows) report.verdict = both(report.verdict, row.verdict);
}

}  // namespace

StackReport judge_stack_run(const StackRun& run, const EngineSource& source,
                            const std::function<void(int64_t judged)>& progress) {
  StackReport report;
  const Stopwatch making;
  std::vector<Layer> layers = layers_of(run);
  report.seconds.weights = making.seconds();

  const Stopwatch loading;
  RowCounts counts;
  StackEngine engine(source, run.shape);
  load(run, source.description.dialect, engine, layers, counts);
  report.seconds.loading = loading.seconds();

  const OneThreadEach alone;
  const Stopwatch judging;
  Judges judges(run, layers, source.description.contract, progress);
  const int64_t put = drive(run, engine, judges, report.seconds.engine);
  std::vector<TensorVerdicts> verdicts = judges.finish();
  report.seconds.judging = judging.seconds();
  report.seconds.threads = judges.busy_seconds();
  report.conduct = engine.conduct();
  report.rows_elsewhere = counts.all;
  report.rows_again = counts.again;
  gather(run, std::move(verdicts), put, report);
  return report;
}

}  // namespace gdn
