/** The vectors, and a table of their pairwise similarity. */
import { Stack, Table, Text } from '@mantine/core'
import { SideScroll } from '../../../components/page/side-scroll.tsx'
import { formatNumber } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { messages } from './messages.ts'
import type { EmbeddingResult, EmbeddingValues } from './values.ts'

/** Vectors in the table of similarities. */
const LINES_MAX = 12
const SHOWN_NUMBERS = 6

export function Vectors({ result }: ResultProps<EmbeddingValues, EmbeddingResult>) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (!result) return null
  const { lines, vectors, tokens } = result
  const length = vectors[0]?.length ?? 0
  const shown = vectors.slice(0, LINES_MAX)
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {t('vectors', { count: vectors.length, length, tokens })}
      </Text>
      {shown.map((vector, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a vector is that of its line
        <div key={index}>
          <Text size="sm" fw={500}>
            {index + 1}. {lines[index]}
          </Text>
          <Text size="xs" ff="monospace" c="dimmed" truncate>
            [
            {vector
              .slice(0, SHOWN_NUMBERS)
              .map((one) => one.toFixed(5))
              .join(', ')}
            , …]
          </Text>
        </div>
      ))}
      {shown.length > 1 ? (
        <SideScroll label={t('similarity')} minWidth={200}>
          <Table aria-label={t('similarity')} captionSide="top" fz="xs" withTableBorder>
            <Table.Caption>{t('similarity')}</Table.Caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('line')}</Table.Th>
                {shown.map((_, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its line
                  <Table.Th key={index} ta="right">
                    {index + 1}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((one, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a row is its line
                <Table.Tr key={row}>
                  <Table.Th>{row + 1}</Table.Th>
                  {shown.map((other, column) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its two lines
                    <Table.Td key={column} ta="right">
                      {formatNumber(compare(one, other), language, 3)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </SideScroll>
      ) : null}
    </Stack>
  )
}

/** Returns the cosine of the angle between two vectors. */
function compare(one: readonly number[], other: readonly number[]): number {
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  const lengths = Math.sqrt(product(one, one) * product(other, other))
  return lengths === 0 ? 0 : product(one, other) / lengths
}
