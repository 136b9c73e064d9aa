/* SPDX-License-Identifier: MIT */
/* The code of first.c, which begins with this file: the first file of its line table. */
volatile int counter;

int main(void)
{
	for (int i = 0; i < 100; i++) {
		counter += i * 3;
	}
	return 0;
}
