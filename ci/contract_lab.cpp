// Contracts by name, and a Lab for one.
#include "ci/contract_lab.h"

namespace gdn {

Lab lab_of(Contract contract) {
  std::string why;
  EngineSource engine = find_engine("twin", &why).value();
  engine.description.contract = std::move(contract);
  return Lab(std::move(engine));
}

std::optional<Contract> contract_named(const std::string& name, std::string* why) {
  for (Contract contract : {any_f32_contract(), torch_cpu_contract(), triton_contract()}) {
    if (contract.name == name) return contract;
  }
  const std::optional<EngineSource> engine = find_engine(name, why);
  if (engine) {
    Contract contract = engine->description.contract;
    // What is written says whose arithmetic it allows for.
    if (contract.name.empty()) contract.name = engine->name;
    return contract;
  }
  *why = "neither any_f32, torch_cpu nor triton, and as an engine: " + *why;
  return std::nullopt;
}

}  // namespace gdn
