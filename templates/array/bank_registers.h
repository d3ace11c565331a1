/* Registers of the banks of the global buffer of array `{{ map.array }}`, at the configuration port of the array. */
{%- let prefix = self::upper(map.array) %}
#ifndef PUSHMEM_{{ prefix }}_GLOBAL_BUFFER_H
#define PUSHMEM_{{ prefix }}_GLOBAL_BUFFER_H

#include <stdint.h>

#define {{ prefix }}_BANKS {{ map.banks }}
#define {{ prefix }}_BANK_BYTES {{ map.bank_bytes }}u
/* Columns of a bank. */
#define {{ prefix }}_BANK_COLUMNS {{ map.columns }}

/* The address of a register of a bank. */
#define {{ prefix }}_BANK_ADDRESS(bank, number) (0x{{ "{:08x}"|format(self.map.first_address()) }}u | (uint32_t)(bank) * {{ prefix }}_BANK_COLUMNS << 16 | (uint32_t)(number))
/* The address of that register of all banks: a write goes to all, a read has the OR of them. */
#define {{ prefix }}_ALL_BANKS_ADDRESS(number) (0x{{ "{:08x}"|format(self.map.first_address_of_all()) }}u | (uint32_t)(number))
/* The byte address of a half of a bank at the port of the host. */
#define {{ prefix }}_BANK_HALF(bank, half) ((uint32_t)(bank) * {{ prefix }}_BANK_BYTES + (uint32_t)(half) * ({{ prefix }}_BANK_BYTES / 2))
{%- for register in map.registers %}

/* {{ register.description }} */
#define {{ prefix }}_BANK_{{ self::upper(register.name) }}_NUMBER {{ register.offset / crate::bank::WORD_BYTES }}
{{ register.c_fields(prefix ~ "_BANK_" ~ self::upper(register.name))|trim }}
{%- endfor %}

#endif
