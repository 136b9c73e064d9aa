/* SPDX-License-Identifier: MIT */
/* Calls a function 200 times and writes a variable; at fixed addresses if linked with -no-pie. */
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
