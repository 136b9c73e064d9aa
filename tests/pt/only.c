/* SPDX-License-Identifier: MIT */
/* Modules of pt/ link with nothing but those that tests/pt/meson.build lists for them. */
int main(void)
{
	return 0;
}
