// Kernels on problems, run side by side.
#include "cli/check_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "cli/lookup.h"
#include "core/error.h"
#include "gpu/check_table.h"
#include "gpu/ptx/compile.h"
#include "gpu/run.h"

namespace flashstep::cli {

Job make_job(const gpu::KernelInfo& kernel, const Request& request, const Fault* fault) {
    Job job{{.kernel = &kernel, .problem = request.problem, .left_out = {}, .failure = {}, .run = {}, .comparison = {}},
            recipe_of(kernel, request, fault)};
    try {
        gpu::check_runnable(kernel, request.problem);
        if (fault && fault->algorithm != kernel.algorithm)
            throw Error(fmt::format("--fault {} is one of {}, {} mirrors {}", fault->id, fault->algorithm, kernel.id,
                                    kernel.algorithm));
    } catch (const Error& error) { job.outcome.left_out = error.what(); }
    return job;
}

std::vector<Job> jobs_of_table(std::optional<DType> dtype, const Fault* fault) {
    std::vector<Job> jobs;
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        for (const gpu::CheckShape& shape : gpu::check_table()) {
            Problem problem = gpu::problem_of(shape, kernel);
            if (dtype) problem.dtype = *dtype;
            jobs.push_back(make_job(kernel, {problem, gpu::inputs_of(shape, problem), {}}, fault));
            std::string& reason = jobs.back().outcome.left_out;
            if (reason.empty()) reason = gpu::left_out(shape, kernel);
        }
    return jobs;
}

void run_jobs(std::vector<Job>& jobs) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr wrong_use;
    std::atomic<bool> failed = false;
    const auto work = [&] {
        for (std::size_t k = next++; k < jobs.size() && !failed; k = next++) {
            Job& job = jobs[k];
            if (!job.outcome.left_out.empty()) continue;
            try {
                job.outcome = check_one(*job.outcome.kernel, job.recipe);
            } catch (...) {
                if (!failed.exchange(true)) wrong_use = std::current_exception();
            }
            job.recipe = {};
        }
    };
    const bool on_device =
        std::ranges::any_of(jobs, [](const Job& job) { return job.recipe.where == Where::LiveCuda; });
    const std::size_t cores = !on_device ? std::max(1u, std::thread::hardware_concurrency()) : 1;
    std::vector<std::thread> others;
    for (std::size_t k = 1; k < std::min(cores, jobs.size()); ++k) others.emplace_back(work);
    work();
    for (std::thread& thread : others) thread.join();
    if (wrong_use) std::rethrow_exception(wrong_use);
}

void add_ptx(std::vector<Job>& jobs) {
    std::vector<const gpu::KernelInfo*> needed;
    for (const Job& job : jobs)
        if (job.outcome.left_out.empty() && (needed.empty() || needed.back() != job.outcome.kernel))
            needed.push_back(job.outcome.kernel);
    std::vector<std::shared_ptr<const gpu::ptx::Module>> modules(needed.size());
    std::vector<std::exception_ptr> failed(needed.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t k = next++; k < needed.size(); k = next++) {
            try {
                modules[k] = gpu::ptx::compile_kernel(needed[k]->id, jobs.front().recipe.target);
            } catch (...) { failed[k] = std::current_exception(); }
        }
    };
    std::vector<std::thread> others;
    for (unsigned k = 1; k < std::min<std::size_t>(std::thread::hardware_concurrency(), needed.size()); ++k)
        others.emplace_back(work);
    work();
    for (std::thread& thread : others) thread.join();
    for (const std::exception_ptr& error : failed)
        if (error) std::rethrow_exception(error);
    for (Job& job : jobs)
        for (std::size_t k = 0; k < needed.size(); ++k)
            if (needed[k] == job.outcome.kernel) job.recipe.ptx = modules[k];
}

bool all_equal(const std::vector<Job>& jobs) {
    return std::ranges::all_of(jobs,
                               [](const Job& job) { return !job.outcome.left_out.empty() || job.outcome.equal(); });
}

}  // namespace flashstep::cli
