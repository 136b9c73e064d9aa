/* SPDX-License-Identifier: MIT */
/*
 * The kernel's symbols, stored on disk between runs: reading /proc/kallsyms takes much longer than
 * the rest of a small report. One file, for the running kernel; numbers in host byte order:
 *
 *	0   "SONDESYM"                8   u32 version (1), u32 0x01020304
 *	16  u64 size of the file      24  u64 checksum of all that follows
 *	32  u64 symbols               40  u64 bytes of names
 *	48  u64 skipped lines of kallsyms
 *	56  the key: struct symbol_cache_key, 72 bytes
 *	128 symbols x { u64 start, u64 end, u32 name, u8 binding, u8 type, u16 0 }
 *	    names in the same order, each with its NUL; `name` is an offset in them
 *
 * The key contains all that kallsyms depends on: the kernel's build id, the boot (each boot can
 * place the kernel elsewhere), and a digest of the first bytes of kallsyms as this user reads them,
 * which differ when addresses are hidden.
 *
 * A file is used only if it belongs to this user, nobody else may write it, and every number in it
 * is valid. Otherwise kallsyms is read as without a cache.
 */
#include "symbol/cache.h"

#include "core/hash.h"
#include "symbol/store.h"

#define VERSION     1u
#define ORDER_MARK  0x01020304u
#define SUMMED_FROM 32u
#define KEY_AT      56u
#define HEADER_SIZE 128u
#define ENTRY_SIZE  24u
#define SIZE_LIMIT  ((uint64_t)64 << 20) /* bytes of the file */
#define FILE_NAME   "kernel-symbols"

static const uint8_t magic[8] = {'S', 'O', 'N', 'D', 'E', 'S', 'Y', 'M'};

/*
 * Copies the entries to the table's symbols; `names` holds their names in order and ends with a
 * NUL.
 */
static bool entries_decode(struct symbol_table *t, struct span entries, struct span names)
{
	struct cursor c = cursor_make(entries, false);
	uint64_t end = 0;
	size_t name = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct symbol *s = &t->symbols[i];

		s->start = cursor_u64(&c);
		s->end = cursor_u64(&c);
		s->name = cursor_u32(&c);
		s->binding = cursor_u8(&c);
		s->type = cursor_u8(&c);
		if (s->start < end || (i != 0 && s->start == s[-1].start) || s->end < s->start ||
		        s->name != name || name == names.n || s->binding > SYMBOL_WEAK ||
		        cursor_u16(&c) != 0) {
			return false;
		}
		end = s->end;
		name += strlen((const char *)names.p + name) + 1;
	}
	memcpy(t->names, names.p, names.n);
	return name == names.n;
}

int symbol_cache_decode(
        struct span bytes, const struct symbol_cache_key *key, struct symbol_table **out)
{
	struct cursor c = cursor_make(bytes, false);
	uint64_t count, names, skipped;
	struct symbol_table *t;
	struct span entries;

	*out = NULL;
	if (bytes.p == NULL || bytes.n <= HEADER_SIZE || bytes.p[bytes.n - 1] != 0 ||
	        memcmp(bytes.p, magic, sizeof(magic)) != 0 ||
	        memcmp(bytes.p + KEY_AT, key, sizeof(*key)) != 0) {
		return SONDE_EFORMAT;
	}
	(void)cursor_take(&c, sizeof(magic));
	if (cursor_u32(&c) != VERSION || cursor_u32(&c) != ORDER_MARK ||
	        cursor_u64(&c) != bytes.n || cursor_u64(&c) != store_checksum(bytes, SUMMED_FROM)) {
		return SONDE_EFORMAT;
	}
	count = cursor_u64(&c);
	names = cursor_u64(&c);
	skipped = cursor_u64(&c);
	if (count > (bytes.n - HEADER_SIZE) / ENTRY_SIZE || names == 0 || names > UINT32_MAX ||
	        names != bytes.n - HEADER_SIZE - count * ENTRY_SIZE) {
		return SONDE_EFORMAT;
	}
	t = symbol_table_new((size_t)count, (size_t)names);
	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	t->skipped = skipped;
	entries = (struct span){bytes.p + HEADER_SIZE, (size_t)count * ENTRY_SIZE};
	if (!entries_decode(t, entries, (struct span){entries.p + entries.n, (size_t)names})) {
		symbol_table_free(t);
		return SONDE_EFORMAT;
	}
	if (!symbol_table_divide(t)) {
		symbol_table_free(t);
		return SONDE_ENOMEM;
	}
	*out = t;
	return SONDE_OK;
}

static size_t names_size(const struct symbol_table *t)
{
	const struct symbol *last = t->count != 0 ? &t->symbols[t->count - 1] : NULL;

	return last != NULL ? last->name + strlen(t->names + last->name) + 1 : 0;
}

int symbol_cache_encode(
        const struct symbol_table *t, const struct symbol_cache_key *key, struct text *out)
{
	uint64_t numbers[] = {0, 0, t->count, names_size(t), t->skipped};
	uint32_t marks[] = {VERSION, ORDER_MARK};

	numbers[0] = HEADER_SIZE + t->count * ENTRY_SIZE + numbers[3];
	if (numbers[3] == 0 || numbers[0] > SIZE_LIMIT) {
		return SONDE_ELIMIT;
	}
	out->n = 0;
	text_bytes(out, (const char *)magic, sizeof(magic));
	text_bytes(out, (const char *)marks, sizeof(marks));
	text_bytes(out, (const char *)numbers, sizeof(numbers));
	text_bytes(out, (const char *)key, sizeof(*key));
	for (size_t i = 0; i < t->count; i++) {
		const struct symbol *s = &t->symbols[i];
		const uint8_t letters[4] = {s->binding, s->type};

		text_bytes(out, (const char *)&s->start, 8);
		text_bytes(out, (const char *)&s->end, 8);
		text_bytes(out, (const char *)&s->name, 4);
		text_bytes(out, (const char *)letters, sizeof(letters));
	}
	text_bytes(out, t->names, numbers[3]);
	if (out->failed) {
		return SONDE_ENOMEM;
	}
	numbers[1] = store_checksum((struct span){(const uint8_t *)out->p, out->n}, SUMMED_FROM);
	memcpy(out->p + 24, &numbers[1], 8);
	return SONDE_OK;
}

bool symbol_cache_key_make(struct symbol_cache_key *key)
{
	uint8_t head[4096];
	size_t n;

	memset(key, 0, sizeof(*key));
	key->id_size = (uint32_t)image_build_id_of_kernel(key->id);
	n = image_head_read("/proc/kallsyms", head, sizeof(head));
	key->head = hash_bytes(head, n);
	return n != 0 && key->id_size != 0 &&
	       image_head_read("/proc/sys/kernel/random/boot_id", key->boot, sizeof(key->boot)) ==
	               sizeof(key->boot);
}

struct symbol_table *symbol_cache_load(const char *folder, const struct symbol_cache_key *key)
{
	struct symbol_table *t = NULL;
	struct image_file file;

	if (store_open(folder, FILE_NAME, SIZE_LIMIT, &file)) {
		(void)symbol_cache_decode(file.bytes, key, &t);
		image_file_close(&file);
	}
	return t;
}

void symbol_cache_save(
        const char *folder, const struct symbol_cache_key *key, const struct symbol_table *t)
{
	struct text bytes = {0};

	if (symbol_cache_encode(t, key, &bytes) == SONDE_OK) {
		store_save(folder, FILE_NAME, bytes.p, bytes.n);
	}
	text_fini(&bytes);
}
