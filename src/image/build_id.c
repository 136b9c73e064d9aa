/* SPDX-License-Identifier: MIT */
/* Build ids of files, of ELF bytes and of the running kernel. */
#include "image/image.h"

#include <sonde/preview/inspect.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

static int give(const struct image_build_id *from, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	memcpy(id, from->bytes, from->size);
	return (int)from->size;
}

int image_build_id_of_span(struct span bytes, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	struct image_elf e;
	struct error err = {0};
	int n = image_elf_open(&e, bytes, &err);

	if (n < 0) {
		return n == SONDE_ENOMEM ? n : 0;
	}
	n = give(&e.build_id, id);
	image_elf_close(&e);
	return n;
}

int image_build_id_of_file(const char *path, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	struct image_file f;
	struct error err = {0};
	int n = image_file_open(&f, path, &err);

	if (n < 0) {
		return n == SONDE_ENOMEM ? n : 0;
	}
	n = image_build_id_of_span(f.bytes, id);
	image_file_close(&f);
	return n;
}

/* The build id in a file of ELF notes, which sysfs has for the kernel and its modules. */
static int of_notes_file(const char *path, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	uint8_t buf[4096];
	struct image_build_id found = {0};
	const struct span notes = {.p = buf, .n = image_head_read(path, buf, sizeof(buf))};

	return image_build_id_of_notes(notes, false, &found) ? give(&found, id) : 0;
}

int image_build_id_of_kernel(uint8_t id[IMAGE_BUILD_ID_MAX])
{
	return of_notes_file("/sys/kernel/notes", id);
}

bool image_is_running_kernel(const char *release, const char *host)
{
	struct utsname name;

	return release != NULL && uname(&name) == 0 && strcmp(name.release, release) == 0 &&
	       (host == NULL || strcmp(name.nodename, host) == 0);
}

int image_build_id_of_module(const char *name, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	static const char *const notes[] = {".note.gnu.build-id", "note.gnu.build-id"};
	char folder[128];
	char path[256];
	int len = snprintf(folder, sizeof(folder), "%s", name);

	if (len <= 0 || (size_t)len >= sizeof(folder) || strchr(folder, '/') != NULL) {
		return 0;
	}
	for (char *p = folder; *p != 0; p++) {
		if (*p == '-') {
			*p = '_';
		}
	}
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		int n;

		if (snprintf(path, sizeof(path), "/sys/module/%s/notes/%s", folder, notes[i]) < 0) {
			return 0;
		}
		n = of_notes_file(path, id);
		if (n > 0) {
			return n;
		}
	}
	return 0;
}

struct span image_vdso(void)
{
	/* Mapped for the process's lifetime; its size follows from its headers. */
	uint64_t at = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *p;
	size_t end;

	if (at == 0) {
		return (struct span){0};
	}
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes a number */
	p = (const uint8_t *)(uintptr_t)at;
#if UINTPTR_MAX > UINT32_MAX
	Elf64_Ehdr h;

	memcpy(&h, p, sizeof(h));
	end = (size_t)h.e_shoff + (size_t)h.e_shentsize * h.e_shnum;
#else
	Elf32_Ehdr h;

	memcpy(&h, p, sizeof(h));
	end = (size_t)h.e_shoff + (size_t)h.e_shentsize * h.e_shnum;
#endif
	return (struct span){.p = p, .n = end};
}

int image_build_id_of_vdso(uint8_t id[IMAGE_BUILD_ID_MAX])
{
	struct span s = image_vdso();

	return s.n > 0 ? image_build_id_of_span(s, id) : 0;
}

size_t sonde_buildid_of(const char *path, char *hex, size_t size)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	int n = path != NULL ? image_build_id_of_file(path, id) : image_build_id_of_kernel(id);
	char text[2 * IMAGE_BUILD_ID_MAX + 1] = "";

	for (int i = 0; i < n; i++) {
		(void)snprintf(text + (size_t)i * 2, 3, "%02x", id[i]);
	}
	if (size != 0) {
		(void)snprintf(hex, size, "%s", text);
	}
	return strlen(text);
}
