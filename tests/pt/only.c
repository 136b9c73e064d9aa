/* SPDX-License-Identifier: MIT */
/* Links modules of pt/ only with those that tests/pt/meson.build lists for them. */
int main(void)
{
	return 0;
}
