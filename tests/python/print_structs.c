/* SPDX-License-Identifier: MIT */
/* Prints size and offsets of the structs that bindings/python/sonde.py repeats, as JSON. */
#include <sonde/preview/session.h>
#include <sonde/preview/symbol.h>

#include <stdio.h>

#define BEGIN(type)                                                                                \
	(void)printf("%s\"%s\":{\"\":%zu", before, #type, sizeof(struct type)), before = ",\n"
#define AT(type, member) (void)printf(",\"%s\":%zu", #member, offsetof(struct type, member))
#define END()            (void)printf("}")

static void print_file(const char *before)
{
	BEGIN(sonde_error);
	AT(sonde_error, status);
	AT(sonde_error, offset);
	AT(sonde_error, text);
	AT(sonde_error, cause);
	END();
	BEGIN(sonde_diag);
	AT(sonde_diag, kind);
	AT(sonde_diag, offset);
	AT(sonde_diag, detail);
	END();
	BEGIN(sonde_file_options);
	AT(sonde_file_options, on_diag);
	AT(sonde_file_options, diag_arg);
	AT(sonde_file_options, gaps);
	AT(sonde_file_options, temp_dir);
	END();
	BEGIN(sonde_file_info);
	AT(sonde_file_info, container);
	AT(sonde_file_info, truncated);
	AT(sonde_file_info, header_size);
	AT(sonde_file_info, data_size);
	AT(sonde_file_info, feature_bits);
	AT(sonde_file_info, streams);
	END();
	BEGIN(sonde_raw_record);
	AT(sonde_raw_record, misc);
	AT(sonde_raw_record, size);
	AT(sonde_raw_record, bytes);
	AT(sonde_raw_record, payload);
	AT(sonde_raw_record, payload_size);
	AT(sonde_raw_record, file);
	AT(sonde_raw_record, stream);
	AT(sonde_raw_record, inflated);
	AT(sonde_raw_record, offset);
	AT(sonde_raw_record, inside);
	AT(sonde_raw_record, position);
	AT(sonde_raw_record, gap);
	END();
}

static void print_fields(const char *before)
{
	BEGIN(sonde_field);
	AT(sonde_field, what);
	AT(sonde_field, kind);
	AT(sonde_field, show);
	AT(sonde_field, array);
	AT(sonde_field, empty);
	AT(sonde_field, width);
	AT(sonde_field, name);
	AT(sonde_field, note);
	AT(sonde_field, unit);
	AT(sonde_field, number);
	AT(sonde_field, real);
	AT(sonde_field, meaning);
	AT(sonde_field, count);
	AT(sonde_field, text);
	AT(sonde_field, text_size);
	AT(sonde_field, bytes);
	AT(sonde_field, size);
	END();
	BEGIN(sonde_field_part);
	AT(sonde_field_part, mask);
	AT(sonde_field_part, value);
	END();
}

static void print_attr(const char *before)
{
	BEGIN(sonde_attr);
	AT(sonde_attr, flags);
	AT(sonde_attr, config1);
	AT(sonde_attr, branch_sample_type);
	AT(sonde_attr, clockid);
	AT(sonde_attr, sample_regs_intr);
	AT(sonde_attr, sample_max_stack);
	AT(sonde_attr, aux_action);
	AT(sonde_attr, sig_data);
	AT(sonde_attr, config4);
	END();
}

static void print_session(const char *before)
{
	BEGIN(sonde_sample);
	AT(sonde_sample, ip);
	AT(sonde_sample, cpu);
	AT(sonde_sample, period);
	AT(sonde_sample, callchain);
	AT(sonde_sample, raw_len);
	AT(sonde_sample, raw);
	AT(sonde_sample, branches);
	AT(sonde_sample, user_regs);
	AT(sonde_sample, user_stack);
	AT(sonde_sample, weight);
	AT(sonde_sample, data_src);
	AT(sonde_sample, intr_regs);
	AT(sonde_sample, phys_addr);
	AT(sonde_sample, read_value);
	AT(sonde_sample, read_enabled);
	AT(sonde_sample, read_len);
	AT(sonde_sample, read_values);
	END();
	BEGIN(sonde_event);
	AT(sonde_event, thread);
	AT(sonde_event, event);
	AT(sonde_event, cpumode);
	AT(sonde_event, offset);
	AT(sonde_event, inside);
	AT(sonde_event, type);
	END();
	BEGIN(sonde_thread);
	AT(sonde_thread, comm);
	END();
	BEGIN(sonde_thread_life);
	AT(sonde_thread_life, tid);
	AT(sonde_thread_life, start);
	AT(sonde_thread_life, comm);
	END();
	BEGIN(sonde_frame);
	AT(sonde_frame, dso);
	AT(sonde_frame, symbol);
	AT(sonde_frame, symbol_offset);
	AT(sonde_frame, ip);
	AT(sonde_frame, address);
	AT(sonde_frame, cpumode);
	AT(sonde_frame, inline_depth);
	END();
	BEGIN(sonde_session_options);
	AT(sonde_session_options, jobs);
	AT(sonde_session_options, on_diag);
	AT(sonde_session_options, diag_arg);
	AT(sonde_session_options, strict);
	AT(sonde_session_options, symfs);
	AT(sonde_session_options, kallsyms);
	AT(sonde_session_options, no_demangle);
	AT(sonde_session_options, on_progress);
	AT(sonde_session_options, progress_arg);
	AT(sonde_session_options, check_owner);
	AT(sonde_session_options, counts_only);
	AT(sonde_session_options, cache);
	AT(sonde_session_options, home);
	AT(sonde_session_options, temp_dir);
	END();
}

static void print_symbols(const char *before)
{
	BEGIN(sonde_source);
	AT(sonde_source, function);
	AT(sonde_source, file);
	AT(sonde_source, line);
	END();
	BEGIN(sonde_location);
	AT(sonde_location, address);
	AT(sonde_location, object);
	AT(sonde_location, object_address);
	AT(sonde_location, symbol);
	AT(sonde_location, symbol_offset);
	AT(sonde_location, functions);
	AT(sonde_location, nfunctions);
	END();
	BEGIN(sonde_symbols_options);
	AT(sonde_symbols_options, size);
	AT(sonde_symbols_options, jobs);
	AT(sonde_symbols_options, no_demangle);
	AT(sonde_symbols_options, cache);
	AT(sonde_symbols_options, home);
	END();
}

int main(void)
{
	print_file("{");
	print_fields(",\n");
	print_attr(",\n");
	print_session(",\n");
	print_symbols(",\n");
	(void)printf("}\n");
	return 0;
}
