/** An object store in place of MinIO, with the credentials and the bucket of compose.yaml. */
import { startS3Server } from '../../../tests/support/s3-server.ts'

const { MINIO_ROOT_USER = '', MINIO_ROOT_PASSWORD = '' } = process.env
const place = {
  accessKeyId: MINIO_ROOT_USER,
  secretAccessKey: MINIO_ROOT_PASSWORD,
  region: 'us-east-1',
  bucket: 'tributary',
}
await startS3Server(place, { host: '0.0.0.0', port: 9000 })
console.log('ready')
