/**
 * Members that come and go with every call. A Set (or a Map) moves into a new table whenever many
 * members have left, and the old table keeps pointing to the members of that moment and to the new
 * table. Once a major garbage collection has moved a table to the old generation, every later table
 * is reachable from a dead one: all members then survive each minor collection, with everything
 * they refer to. Here, a place is cleared as soon as its member leaves.
 */
export class Roster<Member> {
  private readonly places: (Member | undefined)[] = []
  private readonly free: number[] = []

  get size(): number {
    return this.places.length - this.free.length
  }

  /** Adds a member and returns the function that removes it; further calls of it do nothing. */
  add(member: Member): () => void {
    const place = this.free.pop() ?? this.places.length
    this.places[place] = member
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.places[place] = undefined
      this.free.push(place)
    }
  }

  /** Returns the present members, in no particular order. */
  list(): Member[] {
    return this.places.filter((member) => member !== undefined)
  }
}

/**
 * A roster of values by key. After the Map has grown, its old table still refers to deleted keys,
 * but only to emptied boxes, not to values.
 */
export class KeyedRoster<Value> {
  private readonly boxes = new Map<string, { value: Value | undefined }>()

  has(key: string): boolean {
    return this.boxes.has(key)
  }

  get(key: string): Value | undefined {
    return this.boxes.get(key)?.value
  }

  set(key: string, value: Value): void {
    const box = this.boxes.get(key)
    if (box) box.value = value
    else this.boxes.set(key, { value })
  }

  delete(key: string): void {
    const box = this.boxes.get(key)
    if (box) box.value = undefined
    this.boxes.delete(key)
  }

  /** Returns the present keys and values, in no particular order. */
  list(): [string, Value][] {
    return Array.from(this.boxes, ([key, { value }]) => [key, value as Value])
  }
}
