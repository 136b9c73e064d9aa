/* SPDX-License-Identifier: MIT */
/* Calls a function 200 times, and writes to a variable whose address is known: not position-independent. */
int leaf(int n);
int breakable;

__attribute__((noinline)) int leaf(int n)
{
	volatile int x = 0;
	int i;

	for (i = 0; i < n; i++) {
		x += i;
	}
	return x;
}

int main(void)
{
	int i;

	for (i = 0; i < 200; i++) {
		breakable = leaf(100000);
	}
	return 0;
}
