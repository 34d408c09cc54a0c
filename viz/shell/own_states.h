// State that belongs to one file: a panel's cache, what a person typed into it, where it scrolled to. Found by its
// type, so that no list of all states exists.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>

namespace flashstep::viz {

class OwnStates {
  public:
    // The one object of this type, made when it is first asked for.
    template <class State>
    State& get() {
        std::shared_ptr<void>& slot = slots_[typeid(State)];
        if (!slot) slot = std::make_shared<State>();
        return *static_cast<State*>(slot.get());
    }
    std::size_t size() const { return slots_.size(); }

  private:
    std::map<std::type_index, std::shared_ptr<void>> slots_;
};

}  // namespace flashstep::viz
