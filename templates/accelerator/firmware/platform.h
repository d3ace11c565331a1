/* The system around an accelerator, for firmware: its configuration bus, its start, and DMA for its streams.
 *
 * platform.cpp is such a system in simulation. On a chip these are a few accesses to memory-mapped registers.
 */
#ifndef PUSHMEM_PLATFORM_H
#define PUSHMEM_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes and reads a word on the configuration bus, at a byte address. During a run, which goes on meanwhile, only shadow
 * registers. */
void pushmem_write(uint32_t address, uint32_t data);
uint32_t pushmem_read(uint32_t address);

/* Gives the words of an input stream, or a place for those of an output stream: a run, in the order of the beats, lane 0
 * first. Streams are numbered from 0, inputs and outputs each on their own. The words must stay until the run is over. */
void pushmem_send(unsigned stream, const uint16_t *words, size_t count);
void pushmem_receive(unsigned stream, uint16_t *words, size_t count);

/* Starts a run, which flushes all tiles. */
void pushmem_start(void);

/* Waits until the run is over and all words have passed. Returns 0, or -1 if nothing moves any more. */
int pushmem_wait(void);

/* Lets all memories test themselves, between runs; words in them are undefined afterwards. Returns how many have a fault, or -1
 * if no test began or it does not end. */
int pushmem_self_test(void);

/* Whether the last self-test found a fault in a memory; the row that failed first, and all bits that failed in any row, 32 in
 * each word of `bits`, the lowest first. Memories have the numbers of the bits of `bist_fail_tiles`. */
int pushmem_fault(unsigned memory, uint32_t *row, uint32_t *bits);

#ifdef __cplusplus
}
#endif

#endif
