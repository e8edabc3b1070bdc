/**
 * A recording of a known container whose length cannot be read from its bytes. The message ends a
 * sentence that begins with the name of a field.
 */
export class UnreadableSound extends Error {}
