/** A migrator in a process of its own, to be killed: address and folder are its arguments. */
import { connect } from '../../../server/base/database/connection/client.ts'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'

const [url = '', folder = ''] = process.argv.slice(2)
const sql = connect({ url }, { patient: true })
await migrate(sql, folder)
await sql.end()
