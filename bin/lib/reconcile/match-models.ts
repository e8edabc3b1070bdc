/** Matches a vendor's model names with upstream models. */
export interface ModelNames {
  /** Returns the name under which a vendor's rows are compared. */
  ofVendor(name: string): string
  /** Returns the name under which the calls of an upstream model are compared. */
  ofOurs(name: string): string
}

/** A date or a version at the end: `-2024-08-06`, `-20250514`, `-250615`, `@20250514`. */
const DATED = /[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d{6})$/

/**
 * Applies the mapping, then matches equal names, then names without their dates. Upstream models
 * that differ only in their date are compared together if the vendor names none of them.
 */
export function matchModels(
  ours: ReadonlySet<string>,
  vendors: ReadonlySet<string>,
  map: Readonly<Record<string, string>>,
): ModelNames {
  const groups = new Map<string, string>()
  const names = new Map<string, string>()
  for (const vendor of vendors) {
    const mapped = Object.hasOwn(map, vendor) ? map[vendor] : undefined
    const upstreamModel = mapped ?? vendor
    const similar = [...ours].filter((name) => simplify(name) === simplify(upstreamModel))
    const [first, second] = similar
    if (ours.has(upstreamModel) || first === undefined) names.set(vendor, upstreamModel)
    else if (second === undefined) names.set(vendor, first)
    else {
      for (const name of similar) groups.set(name, simplify(upstreamModel))
      names.set(vendor, simplify(upstreamModel))
    }
  }
  const group = (name: string) => groups.get(name) ?? name
  return { ofVendor: (name) => group(names.get(name) ?? name), ofOurs: group }
}

function simplify(name: string): string {
  return name.toLowerCase().replace(DATED, '')
}
