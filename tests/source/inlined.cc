/* SPDX-License-Identifier: MIT */
/* Templates, methods and a lambda, inlined into each other. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

volatile uint64_t sink;

namespace shapes
{
template <class T> struct Box {
	std::vector<T> values;

	T sum(T factor) const
	{
		T total = 0;

		for (auto x : values) {
			total += step(x, factor);
		}
		return total;
	}

	static inline __attribute__((always_inline)) T step(T x, T factor)
	{
		return (x ^ factor) * 31 % 7919;
	}
};
} // namespace shapes

static uint64_t __attribute__((noinline)) work(const shapes::Box<uint64_t> &box, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < n; i++) {
		total += box.sum(i);
	}
	return total;
}

int main()
{
	shapes::Box<uint64_t> box;

	for (int i = 0; i < 1000; i++) {
		box.values.push_back((i * 7919) % 1000);
	}
	std::sort(box.values.begin(), box.values.end(),
	        [](uint64_t x, uint64_t y) { return x % 97 < y % 97; });
	sink += work(box, 100);
#ifdef WAIT /* until the standard input ends */
	std::puts("ready");
	std::fflush(stdout);
	(void)std::getchar();
#endif
	return 0;
}
