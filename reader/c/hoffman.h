/* The reader's interface under the name of the project. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"
