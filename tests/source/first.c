/* SPDX-License-Identifier: MIT */
#include "body.h"
