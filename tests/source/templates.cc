// SPDX-License-Identifier: MIT
// Much code of the library's templates, inlined many levels deep.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <typename K> static int count(const std::vector<K> &keys)
{
	std::map<K, int> ordered;
	std::unordered_map<K, int> hashed;
	std::set<K> once(keys.begin(), keys.end());
	std::vector<K> sorted(keys);

	std::sort(sorted.begin(), sorted.end(), std::greater<K>());
	for (const K &k : sorted) {
		ordered[k]++;
		hashed[k]++;
	}
	return (int)(ordered.size() + hashed.size() + once.size());
}

int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	std::vector<int> sizes;
	std::regex word("[a-z]+(/[a-z]+)*");
	std::ostringstream text;
	int matches = 0;

	for (const std::string &w : words) {
		auto size = std::make_shared<int>((int)w.size());

		sizes.push_back(*size);
		matches += std::regex_search(w, word);
		text << w << *size;
	}
	std::cout << count(words) << count(sizes) << matches << text.str() << "\n";
	return 0;
}
