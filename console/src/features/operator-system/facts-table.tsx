/** A table of facts, shown as the answer states them. */
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { SideScroll } from '../../components/page/side-scroll.tsx'

interface FactsTableProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ReactNode[])[]
  /** Columns after the first are numbers. */
  readonly numeric?: boolean
}

export function FactsTable({ label, head, rows, numeric = false }: FactsTableProps) {
  const align = (column: number) => (numeric && column > 0 ? 'right' : 'left')
  return (
    <SideScroll label={label}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {head.map((title, column) => (
              <Table.Th key={title} ta={align(column)}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other name
            <Table.Tr key={row}>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                <Table.Td key={column} valign="top" ta={align(column)}>
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </SideScroll>
  )
}
