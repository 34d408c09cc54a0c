// What most files include, compiled once (precompiled headers). A file still includes what it uses: the clang build, which
// tests compile too, has no precompiled headers.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
