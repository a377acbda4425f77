export { feature, mesh } from 'topojson-client';
