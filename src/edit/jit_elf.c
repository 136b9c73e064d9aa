/* SPDX-License-Identifier: MIT */
/* Written with libelf, which puts headers and symbols into the byte order and class of the code. */
#include "edit/jit_elf.h"

#include "core/hash.h"
#include "edit/names.h"

#include <gelf.h>
#include <libelf.h>

#define SECTIONS_MAX 12u
#define EH_FRAME_HDR "\1\x1b" /* version 1, pointer to .eh_frame: relative, 4 bytes, signed */

struct section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	Elf_Type data; /* what libelf puts into the byte order */
	const void *bytes;
	size_t n;
	uint64_t align, entsize;
	uint32_t link, info;
};

struct writer {
	const struct frame_jit_code *code;
	Elf *elf;
	struct error *err;
	struct section sections[SECTIONS_MAX]; /* without section 0 */
	size_t n;
	uint64_t loaded; /* end of the loaded sections: address and offset */
	struct text names;
};

static int failed(struct writer *w)
{
	return error_set(w->err, SONDE_EIO, NO_OFFSET, "%s", elf_errmsg(-1));
}

static void add(struct writer *w, struct section s)
{
	if (s.n != 0) {
		w->sections[w->n++] = s;
	}
}

static struct section debug_section(const char *name, const struct text *t)
{
	return (struct section){.name = name,
	        .type = SHT_PROGBITS,
	        .data = ELF_T_BYTE,
	        .bytes = t->p,
	        .n = t->n,
	        .align = 1};
}

/* The runtime's table of .eh_frame, if it refers to what is right before it. */
static struct span table_of(const struct frame_jit_code *c)
{
	static const struct span none;
	bool good = c->eh_frame.n != 0 && c->eh_frame_hdr.n >= 8 &&
	            memcmp(c->eh_frame_hdr.p, EH_FRAME_HDR, 2) == 0 &&
	            load_u32(c->eh_frame_hdr.p + 4, c->swap) ==
	                    (uint32_t)(0 - (uint64_t)(c->eh_frame.n + 4));

	return good ? c->eh_frame_hdr : none;
}

/* Three hashes of all contents, with different keys. */
static void id_make(const struct writer *w, uint8_t id[JIT_ELF_ID])
{
	for (unsigned i = 0; i < 3; i++) {
		struct names key = {.key = {(uint8_t)(i + 1)}};
		uint64_t hash = names_hash(&key, w->code->name, strlen(w->code->name));

		for (size_t k = 0; k < w->n; k++) {
			memcpy(key.key + 8, &hash, sizeof(hash));
			hash = names_hash(&key, w->sections[k].bytes, w->sections[k].n);
		}
		memcpy(id + (size_t)i * 8, &hash, i < 2 ? 8 : JIT_ELF_ID - 16);
	}
}

static int header_make(struct writer *w, size_t names_section, uint64_t sections_at)
{
	const struct frame_jit_code *c = w->code;
	bool big = c->swap != HOST_BIG_ENDIAN;
	GElf_Ehdr ehdr;
	GElf_Phdr phdr = {.p_type = PT_LOAD,
	        .p_flags = PF_R | PF_X,
	        .p_offset = FRAME_JIT_START,
	        .p_vaddr = FRAME_JIT_START,
	        .p_paddr = FRAME_JIT_START,
	        .p_filesz = w->loaded - FRAME_JIT_START,
	        .p_memsz = w->loaded - FRAME_JIT_START,
	        .p_align = 8};

	if (gelf_newehdr(w->elf, c->kind.is64 ? ELFCLASS64 : ELFCLASS32) == NULL ||
	        gelf_newphdr(w->elf, 1) == NULL || gelf_getehdr(w->elf, &ehdr) == NULL) {
		return failed(w);
	}
	ehdr.e_ident[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	ehdr.e_type = ET_DYN;
	ehdr.e_machine = c->kind.machine;
	ehdr.e_version = EV_CURRENT;
	ehdr.e_entry = FRAME_JIT_START;
	ehdr.e_phoff = c->kind.is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	ehdr.e_shoff = sections_at;
	ehdr.e_shstrndx = (GElf_Half)names_section;
	return gelf_update_ehdr(w->elf, &ehdr) == 0 || gelf_update_phdr(w->elf, 0, &phdr) == 0
	               ? failed(w)
	               : 0;
}

static int section_make(struct writer *w, const struct section *s, uint64_t at, uint32_t name)
{
	Elf_Scn *scn = elf_newscn(w->elf);
	Elf_Data *data = scn != NULL ? elf_newdata(scn) : NULL;
	GElf_Shdr shdr;

	if (data == NULL || gelf_getshdr(scn, &shdr) == NULL) {
		return failed(w);
	}
	memcpy(&data->d_buf, &s->bytes, sizeof(s->bytes)); /* not changed: libelf has no const */
	data->d_type = s->data;
	data->d_size = s->n;
	data->d_align = s->align;
	data->d_version = EV_CURRENT;
	shdr = (GElf_Shdr){.sh_name = name,
	        .sh_type = s->type,
	        .sh_flags = s->flags,
	        .sh_addr = (s->flags & SHF_ALLOC) != 0 ? at : 0,
	        .sh_offset = at,
	        .sh_size = s->n,
	        .sh_link = s->link,
	        .sh_info = s->info,
	        .sh_addralign = s->align,
	        .sh_entsize = s->entsize};
	return gelf_update_shdr(scn, &shdr) == 0 ? failed(w) : 0;
}

/* Adds .shstrtab, and lays all sections out one after the other. */
static int layout_make(struct writer *w)
{
	uint32_t names[SECTIONS_MAX] = {0};
	uint64_t at = FRAME_JIT_START, offsets[SECTIONS_MAX] = {0};

	add(w, (struct section){.name = ".shstrtab",
	               .type = SHT_STRTAB,
	               .data = ELF_T_BYTE,
	               .bytes = "",
	               .n = 1,
	               .align = 1});
	text_char(&w->names, '\0');
	for (size_t i = 0; i < w->n; i++) {
		names[i] = (uint32_t)w->names.n;
		text_bytes(&w->names, w->sections[i].name, strlen(w->sections[i].name) + 1);
	}
	if (w->names.failed) {
		return error_nomem(w->err);
	}
	w->sections[w->n - 1].bytes = w->names.p;
	w->sections[w->n - 1].n = w->names.n;
	for (size_t i = 0; i < w->n; i++) {
		at = (at + w->sections[i].align - 1) / w->sections[i].align * w->sections[i].align;
		offsets[i] = at;
		at += w->sections[i].n;
		if (w->sections[i].flags != 0) {
			w->loaded = at;
		}
	}
	TRY(header_make(w, w->n, (at + 7) & ~UINT64_C(7)));
	for (size_t i = 0; i < w->n; i++) {
		TRY(section_make(w, &w->sections[i], offsets[i], names[i]));
	}
	return 0;
}

static void sections_add(struct writer *w, const struct jit_debug *d)
{
	const struct frame_jit_code *c = w->code;
	const struct span table = table_of(c);
	const struct section loaded = {
	        .type = SHT_PROGBITS, .flags = SHF_ALLOC, .data = ELF_T_BYTE};
	struct section s = loaded;

	s.name = ".text";
	s.flags |= SHF_EXECINSTR;
	s.bytes = c->bytes.p;
	s.n = c->bytes.n;
	s.align = 16;
	add(w, s);
	s = loaded;
	s.name = ".eh_frame";
	s.bytes = c->eh_frame.p;
	s.n = c->eh_frame.n;
	s.align = 8;
	add(w, s);
	s.name = ".eh_frame_hdr";
	s.bytes = table.p;
	s.n = table.n;
	s.align = 1; /* it begins where .eh_frame ends */
	add(w, s);
	add(w, debug_section(".debug_line", &d->line));
	add(w, debug_section(".debug_info", &d->info));
	add(w, debug_section(".debug_abbrev", &d->abbrev));
	add(w, debug_section(".debug_aranges", &d->aranges));
}

/* Note and symbols, whose contents the caller keeps until the file is written. */
struct own {
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[JIT_ELF_ID];
	} note;
	Elf64_Sym symbols64[2];
	Elf32_Sym symbols32[2];
	struct text names;
};

static int own_add(struct writer *w, struct own *o)
{
	const struct frame_jit_code *c = w->code;
	const unsigned char info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	bool is64 = c->kind.is64;
	struct section symbols = {.name = ".symtab",
	        .type = SHT_SYMTAB,
	        .data = ELF_T_SYM,
	        .bytes = is64 ? (const void *)o->symbols64 : o->symbols32,
	        .n = is64 ? sizeof(o->symbols64) : sizeof(o->symbols32),
	        .align = 8,
	        .entsize = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym),
	        .info = 1}; /* the first global symbol */

	id_make(w, o->note.id);
	o->note.head = (Elf64_Nhdr){4, JIT_ELF_ID, NT_GNU_BUILD_ID};
	memcpy(o->note.name, "GNU", 4);
	o->symbols64[1] = (Elf64_Sym){1, info, 0, 1, FRAME_JIT_START, c->bytes.n};
	o->symbols32[1] = (Elf32_Sym){1, FRAME_JIT_START, (uint32_t)c->bytes.n, info, 0, 1};
	text_char(&o->names, '\0');
	text_bytes(&o->names, c->name, strlen(c->name) + 1);
	if (o->names.failed) {
		return error_nomem(w->err);
	}
	add(w, (struct section){.name = ".note.gnu.build-id",
	               .type = SHT_NOTE,
	               .data = ELF_T_NHDR,
	               .bytes = &o->note,
	               .n = sizeof(o->note),
	               .align = 4});
	symbols.link = (uint32_t)w->n + 2; /* the next section */
	add(w, symbols);
	add(w, (struct section){.name = ".strtab",
	               .type = SHT_STRTAB,
	               .data = ELF_T_BYTE,
	               .bytes = o->names.p,
	               .n = o->names.n,
	               .align = 1});
	return 0;
}

static int write_all(struct writer *w, int fd, const struct jit_debug *debug, struct own *o)
{
	if (elf_version(EV_CURRENT) == EV_NONE ||
	        (w->elf = elf_begin(fd, ELF_C_WRITE, NULL)) == NULL) {
		return failed(w);
	}
	(void)elf_flagelf(w->elf, ELF_C_SET, ELF_F_LAYOUT);
	sections_add(w, debug);
	TRY(own_add(w, o));
	TRY(layout_make(w));
	return elf_update(w->elf, ELF_C_WRITE) < 0 ? failed(w) : 0;
}

int jit_elf_write(int fd, const struct frame_jit_code *code, const struct jit_debug *debug,
        uint8_t id[JIT_ELF_ID], struct error *err)
{
	struct writer w = {.code = code, .err = err};
	struct own o = {0};
	int rc = write_all(&w, fd, debug, &o);

	memcpy(id, o.note.id, JIT_ELF_ID);
	(void)elf_end(w.elf);
	text_fini(&w.names);
	text_fini(&o.names);
	return rc;
}
