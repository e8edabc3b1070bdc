/** A reporter of `node --test`: the file of each test that failed, a line each, nothing else. */
import type { TestEvent } from 'node:test/reporters'

export default async function* failedFiles(events: AsyncIterable<TestEvent>) {
  const told = new Set<string>()
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || !data.file || told.has(data.file)) continue
    told.add(data.file)
    yield `${data.file}\n`
  }
}
