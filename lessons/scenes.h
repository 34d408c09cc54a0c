// The experiments of a lesson: each run is made once, when a number of it is first asked for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/gpu_model.h"
#include "lab/run.h"
#include "lessons/lesson.h"

namespace flashstep {

// What a scene runs, with its inputs. Throws Error: it sets a cell that no input has.
Recipe recipe_of(const Scene& scene);

class Scenes {
  public:
    // The lesson must outlive it.
    explicit Scenes(const Lesson& lesson) : lesson_(&lesson) {}

    const Lesson& lesson() const { return *lesson_; }
    // Throws Error naming the scenes that there are.
    const Scene& scene(std::string_view name) const;
    // What it runs, or what stands for it runs. Its inputs may be missing.
    const Recipe& recipe(std::string_view name) const;
    // The scene's run without its kernel, and with it. Throws Error as make_run does.
    std::shared_ptr<const Run> run(std::string_view name);
    std::shared_ptr<const Run> run_with_kernel(std::string_view name);
    // What an algorithm costs on the scene's problem, from shapes alone; empty: the scene's own algorithm.
    const Counts& counts(std::string_view name, std::string_view algorithm);

    // The scene's algorithm and problem on a GPU.
    const GpuModel& model(std::string_view name, const Gpu& gpu);

    // Lets a run stand for a scene: what is shown, for the goal of an experiment. Null: no longer.
    void stand_in(std::string_view name, std::shared_ptr<const Run> run);

  private:
    const Lesson* lesson_;
    std::map<std::string, std::shared_ptr<const Run>, std::less<>> runs_, with_kernel_, stand_ins_;
    std::map<std::string, Counts, std::less<>> counts_;
    std::map<std::string, GpuModel, std::less<>> models_;

    std::string key(std::string_view name, std::string_view of) const;
};

}  // namespace flashstep
