/* Kernels as functions on std::span, in C++20.

     fclc ../sums.fcl -o sums.c
     g++ -std=c++20 -I. $(pkg-config --cflags fcl) sums.cc $(pkg-config --libs fcl) -o sums */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#define SUMS_IMPLEMENTATION
#include "sums.h"

class Sums {
  public:
    Sums() {
        fcl_options options = FCL_OPTIONS_DEFAULT;
        options.kind = FCL_DEVICE_C;
        fcl_context *opened;
        char why[1024];
        if (fcl_open(&opened, &options, why, sizeof why) != FCL_OK)
            throw std::runtime_error(why);
        context.reset(opened);
    }

    std::int32_t total(std::span<const std::int32_t> numbers) {
        std::int32_t result;
        check(sums_total(context.get(), static_cast<std::int32_t>(numbers.size()), numbers.data(), &result));
        return result;
    }

    // Into the caller's memory: no copy, no allocation.
    void running(std::span<const std::int32_t> numbers, std::span<std::int32_t> sums) {
        std::int32_t room = static_cast<std::int32_t>(sums.size());
        check(sums_running_into(context.get(), static_cast<std::int32_t>(numbers.size()), numbers.data(), &room,
                                sums.data()));
    }

  private:
    struct Close {
        void operator()(fcl_context *opened) const { fcl_close(opened); }
    };
    void check(fcl_status status) const {
        if (status != FCL_OK)
            throw std::runtime_error(fcl_error(context.get()));
    }
    std::unique_ptr<fcl_context, Close> context;
};

int main() {
    try {
        Sums sums;
        const std::vector<std::int32_t> numbers = {1, 2, 3, 4};
        std::vector<std::int32_t> running(numbers.size());
        std::printf("%d:", sums.total(numbers));
        sums.running(numbers, running);
        for (std::int32_t sum : running)
            std::printf(" %d", sum);
        std::printf("\n");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
