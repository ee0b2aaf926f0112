// Installs the programs of the cluster before the fault programs run: its apt-get would collide
// with that of another program beside it.
import { installPrograms } from './packages.ts'

const { patroniVersion } = await installPrograms()
console.log(`the programs of the cluster are here, with Patroni ${patroniVersion}`)
