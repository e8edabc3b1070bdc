/** Names of time zones, as the engine and the database read them alike. */

/**
 * A place, such as Asia/Shanghai, keeps its name. The engine has two names with a slash besides
 * that the database does not know.
 */
const PLACE = /^(?!SystemV\/|US\/Pacific-New$)\w+\//i

/**
 * Returns the name for the database; undefined for what is no time zone. The database takes
 * abbreviations such as CET and IST for offsets without summer time, some of them of another
 * country, and does not know others: they become the place that they stand for. It reads offsets
 * such as +08:00 with the opposite sign.
 */
export function readTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return PLACE.test(name) ? name : timeZone
  } catch {
    return undefined
  }
}
