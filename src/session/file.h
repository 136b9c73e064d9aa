/* SPDX-License-Identifier: MIT */
/* The file of a session, for `inspect` and `bundler` only. Other layers use session.h. */
#ifndef SONDE_SESSION_FILE_H
#define SONDE_SESSION_FILE_H

struct file;
struct sonde_session;

const struct file *session_file(const struct sonde_session *s);

#endif
