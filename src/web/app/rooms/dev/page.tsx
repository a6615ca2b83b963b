export default function DevPage() {
  return <h1>Dev</h1>;
}
