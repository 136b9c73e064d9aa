// SPDX-License-Identifier: MIT
// C++ exceptions through several frames, with destructors and virtual calls.
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual int area(int x) const = 0;
};

struct Square : Shape {
	int area(int x) const override
	{
		if (x == 3) {
			throw std::runtime_error("three");
		}
		return x * x;
	}
};

struct Flat : Shape {
	int area(int x) const override
	{
		return x == 4 ? throw x : 0;
	}
};

static int sum(const std::vector<Shape *> &shapes, int x)
{
	std::string name = "a name that needs memory of its own, which is freed while unwinding";
	int all = static_cast<int>(name.size() % 2);

	for (const Shape *shape : shapes) {
		all += shape->area(x);
	}
	return all;
}

int main()
{
	Square square;
	Flat flat;
	std::vector<Shape *> shapes{&square, &flat};
	int caught = 0;

	for (int x = 0; x < 6; x++) {
		try {
			caught += sum(shapes, x) < 0;
		} catch (const std::exception &e) {
			caught += e.what()[0] == 't' ? 10 : 0;
		} catch (int value) {
			caught += value;
		}
	}
	return caught == 14 ? 0 : 1;
}
