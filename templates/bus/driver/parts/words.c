static void store(uint8_t *place, uint32_t bytes, unsigned word)
{
    uint32_t byte;
    for (byte = 0; byte < bytes; ++byte) {
        place[byte] = (uint8_t)(word >> 8 * byte);
    }
}

static size_t wrong;
static size_t compared;

static void compare(uint8_t *place, uint32_t bytes, unsigned word)
{
    uint32_t byte;
    size_t differ = 0;
    for (byte = 0; byte < bytes; ++byte) {
        differ += place[byte] != (uint8_t)(word >> 8 * byte);
    }
    wrong += differ != 0;
    ++compared;
}
